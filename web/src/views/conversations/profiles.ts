// The agents that can be talked to, by the name that people see.

import type { Answer } from "../../../../src/http/endpoints.ts";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/conversations.ts";

export type Profile = Answer<"profiles">["profiles"][number];

const NONE: readonly Profile[] = [];

/** Keryx's own first. */
export function useProfiles(): readonly Profile[] {
	return useApi("profiles", {}, { on: ["config"] }).data?.profiles ?? NONE;
}

export function profileName(profile: string): string {
	return profile === "" ? texts.profiles.mainProfile : profile;
}
