// The order of test files. Without known durations, as in a fresh clone, Vitest starts with the largest file. The
// files below take long, whatever their size: if started last, each would keep one worker busy after all others are done.
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ROOT = join(import.meta.dirname, "../..");

/** Longest first; `npm test` prints how long files take. */
const LONGEST = [
	"test/postgres/storm.test.ts",
	"test/page/chat.test.ts",
	"test/postgres/conformance.test.ts",
	"test/gateway/kill.test.ts",
	"test/processes/ssh.test.ts",
	"test/docs-blocks.test.ts",
	"test/postgres/nodes.test.ts",
	"test/update.test.ts",
	"test/secrets/everywhere.test.ts",
	"test/postgres/rolling.test.ts",
	"test/page/large.test.ts",
	"test/checkpoints/kill.test.ts",
	"test/processes/registry.test.ts",
	"test/gateway/file-tools.test.ts",
	"src/render/cost.test.ts",
	"src/tools/classifier/cost.test.ts",
	"test/page/set-up.test.ts",
	"test/postgres/owners.test.ts",
	"test/mcp/client.test.ts",
	"test/page/shell.test.ts",
	"test/rights-sources.test.ts",
	"test/cli-processes.test.ts",
	"test/channels/bridge-conformance.test.ts",
	"test/acp/agent.test.ts",
	"test/page/settings.test.ts",
	"test/walls/lines.test.ts",
	"test/gateway/kill-confirmation.test.ts",
	"test/checkpoints/property.test.ts",
	"test/page/checkpoints.test.ts",
	"test/channels/slack-storm.test.ts",
	"test/postgres/torture.test.ts",
	"test/page/nodes.test.ts",
	"test/page/reconnect.test.ts",
	"test/store-crash.test.ts",
	"test/channels/email-line.test.ts",
	"test/walls/user.test.ts",
	"test/store-conformance.test.ts",
	"test/processes/host.test.ts",
	"test/postgres/update.test.ts",
	"test/walls/root.test.ts",
	"test/channels/matrix-storm.test.ts",
	"test/page/manage.test.ts",
	"test/cli-send.test.ts",
	"test/postgres/gateway.test.ts",
	"test/cli-checkpoints.test.ts",
	"test/gateway/everyday-tasks.test.ts",
	"test/walls/escape.test.ts",
	"test/walls/own-network.test.ts",
	"test/gateway/checkpoint-commands.test.ts",
	"test/processes-crash.test.ts",
	"test/gateway/net.test.ts",
	"test/page/chat-looks.test.ts",
	"test/postgres/scenarios.test.ts",
	"test/lost-store.test.ts",
	"test/page/first-hour.test.ts",
	"test/http/port-fuzz.test.ts",
	"test/channels/guides.test.ts",
	"test/page/processes.test.ts",
	"test/channels/discord-storm.test.ts",
	"test/page/insights.test.ts",
	"test/gateway/processes.test.ts",
	"test/processes/terminal.test.ts",
	"test/channels/email.test.ts",
	"test/processes/walled.test.ts",
	"test/postgres/cluster.test.ts",
	"test/page/confirmations.test.ts",
	"test/postgres/model.test.ts",
	"test/cli-confirm.test.ts",
	"test/page/expected.test.ts",
	"test/channels/bridge.test.ts",
	"test/gateway/file-walls.test.ts",
	"test/channels/email-conformance.test.ts",
];

export class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const gone = LONGEST.filter((file) => !existsSync(join(ROOT, file)));
		if (gone.length > 0) throw new Error(`test/support/longest-first.ts names what is not there: ${gone}`);
		const sorted = await super.sort(files);
		const projects = Map.groupBy(sorted, ({ project }) => project.name);
		return [...projects.values()].flatMap((specifications) =>
			specifications.toSorted((one, other) => rank(one) - rank(other)),
		);
	}
}

function rank({ moduleId }: TestSpecification): number {
	const at = LONGEST.indexOf(relative(ROOT, moduleId));
	return at < 0 ? LONGEST.length : at;
}
