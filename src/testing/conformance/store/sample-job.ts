// A minimal job that writes a word to a file every hour. The benchmark fills stores with it, too.
import type { NewJob } from "../../../store/index.ts";

export function sampleJob(given: Partial<NewJob> = {}): NewJob {
	return {
		name: "report",
		task: { kind: "text", text: "now" },
		when: { kind: "every", seconds: 3600 },
		zone: "Europe/Berlin",
		catchUp: "once",
		maxDelaySeconds: null,
		conversation: null,
		deliver: { target: { kind: "local" }, shown: "a file", approved: true },
		failure: null,
		origin: null,
		profile: "",
		model: null,
		tools: null,
		owner: { principal: null, role: "owner", platform: "local" },
		...given,
	};
}
