// Whether the page still leads through the first steps of this Keryx. Once they are done or skipped it is asked no more.
import { useEffect } from "react";
import { api, useApi } from "../../api/index.ts";
import { createValue } from "../../lib/value.ts";

const isOver = createValue(false);

/** wait: not known yet. */
export function useSetup(): "wait" | "open" | "over" {
	const over = isOver.use();
	const { data, isError } = useApi("setup", {}, { on: ["config", "pairing", "session"], enabled: !over });
	useEffect(() => {
		if (!data || data.open || isOver.get()) return;
		isOver.set(true);
		// All of them are done: kept, so that none comes back with a model that is taken away later.
		if (data.steps.length > 0) void api.skipSetup({ step: "all" }).catch(() => isOver.set(false));
	}, [data]);
	if (over || isError) return "over";
	return data === undefined ? "wait" : data.open ? "open" : "over";
}
