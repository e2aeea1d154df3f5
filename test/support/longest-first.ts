// The order of test files. Vitest begins with the largest file where it does not know how long each one takes, as in a fresh clone. The
// files below take long and are not large: begun last, each would keep one worker busy after all others are done.
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ROOT = join(import.meta.dirname, "../..");

/** The longest first; `npm test` prints how long files take. */
const LONGEST = [
	"test/postgres/storm.test.ts",
	"test/store-conformance.test.ts",
	"test/page/chat.test.ts",
	"test/channels/discord-storm.test.ts",
	"test/channels/slack-storm.test.ts",
	"test/gateway/kill.test.ts",
	"test/postgres/conformance.test.ts",
	"test/docs-blocks.test.ts",
	"test/update.test.ts",
	"test/processes/ssh.test.ts",
	"test/walls/lines.test.ts",
	"test/walls/root.test.ts",
	"test/postgres/rolling.test.ts",
	"test/postgres/scenarios.test.ts",
	"test/page/nodes.test.ts",
	"test/postgres/gateway.test.ts",
	"test/gateway/kill-confirmation.test.ts",
	"test/gateway/net.test.ts",
	"test/postgres/cluster.test.ts",
	"test/channels/bridge-conformance.test.ts",
	"test/page/large.test.ts",
	"src/tools/classifier/dangerous.test.ts",
	"src/render/cost.test.ts",
	"test/postgres/torture.test.ts",
	"test/postgres/model.test.ts",
	"test/page/reconnect.test.ts",
	"test/mcp/follow.test.ts",
	"test/secrets/everywhere.test.ts",
	"test/lost-store.test.ts",
	"test/torture.test.ts",
	"test/models/kill.test.ts",
	"test/mcp/kills.test.ts",
	"test/postgres/cuts.test.ts",
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
