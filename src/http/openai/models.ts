// The models: Keryx itself, and each profile.
import { KeryxError } from "../../errors.ts";
import type { ApiHost } from "../call.ts";

const NAME = "keryx";

export function modelNames({ profiles = [] }: ApiHost): string[] {
	return [NAME, ...profiles.map((profile) => `${NAME}/${profile}`)];
}

/** The profile that a model stands for; null for Keryx itself. */
export function profileOf(model: string, host: ApiHost): string | null {
	if (!modelNames(host).includes(model))
		throw new KeryxError("model.unknown", `there is no model ${JSON.stringify(model.slice(0, 100))}`, {
			field: "model",
		});
	return model === NAME ? null : model.slice(NAME.length + 1);
}
