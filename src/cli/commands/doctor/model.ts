// Whether the models answer: each configured one is called once, with a few tokens.

import type { ModelAgent } from "../../../agents/index.ts";
import { createAgent } from "../../../app/agent.ts";
import type { Config, Environment } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { NO_SECRETS } from "../../../secrets/index.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, wrong } from "./finding.ts";

const CHECK_MS = 60_000;

export async function lookAtModels(config: Config, env: Environment): Promise<Finding[]> {
	const named: readonly (readonly [string, Config])[] = [
		["model", config],
		...Object.entries(config.profiles).map(
			([name, { agent }]) => [texts.doctor.model.of(name), { ...config, agent }] as const,
		),
	];
	return Promise.all(named.map(([check, one]) => lookAt(check, one, env)));
}

async function lookAt(check: string, config: Config, env: Environment): Promise<Finding> {
	if (config.agent.kind === "offline") return fine(check, texts.doctor.model.none);
	if (config.agent.kind !== "ai-sdk") return fine(check, texts.doctor.model.agent(config.agent.kind));
	try {
		const agent = createAgent(config, {
			env,
			store: { blob: () => Promise.reject(new Error("no blobs here")), secrets: NO_SECRETS },
		}) as ModelAgent;
		const found = await agent.check(AbortSignal.timeout(CHECK_MS));
		const name = `${found.provider} ${found.model}`;
		if (found.ok) return fine(check, texts.doctor.model.fine(name, found.ms));
		return wrong(check, texts.doctor.model.failed(name, found.failure.kind, found.failure.detail), REMEDY);
	} catch (error) {
		if (!(error instanceof KeryxError)) throw error;
		return wrong(check, error.message, error.hint);
	}
}

const REMEDY = texts.doctor.model.remedy;
