// The agents one can talk to, by their display names.

import type { Answer } from "../../../../src/http/endpoints.ts";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/conversations.ts";

export type Profile = Answer<"profiles">["profiles"][number];

const NONE: readonly Profile[] = [];

/** The main profile is first. */
export function useProfiles(): readonly Profile[] {
	return useApi("profiles", {}, { on: ["config"] }).data?.profiles ?? NONE;
}

export function profileName(profile: string): string {
	return profile === "" ? texts.profiles.mainProfile : profile;
}
