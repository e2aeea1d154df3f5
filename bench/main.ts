// `npm run bench -- <area> [--json] [--full] [--profile]`: measures one area, with --full also what takes very long; with --profile where the
// time goes instead, of those areas that can say so. Exit code 1 when a bar does not hold, 2 for wrong usage.
import { availableParallelism } from "node:os";
import { createOutput } from "../src/cli/io/output.ts";
import type { Row } from "./harness.ts";

/** An area is loaded when it is asked for, so that one cannot disturb another. */
const AREAS: Readonly<Record<string, (options: { readonly full: boolean }) => Promise<Row[]>>> = {
	domain: async () => (await import("./domain.ts")).measureDomain(),
	classifier: async () => (await import("./classifier.ts")).measureClassifier(),
	store: async () => (await import("./store.ts")).measureStore(),
	rounds: async (options) => (await import("./store-compare.ts")).measureRounds(options),
	cluster: async () => (await import("./cluster.ts")).measureCluster(),
	confirmations: async () => (await import("./confirmations.ts")).measureConfirmations(),
	checkpoints: async () => (await import("./checkpoints.ts")).measureCheckpoints(),
	gateway: async () => (await import("./gateway.ts")).measureGateway(),
	keeping: async () => (await import("./keeping.ts")).measureKeeping(),
	memory: async (options) => (await import("./memory.ts")).measureMemory(options),
	channels: async () => (await import("./channels.ts")).measureChannels(),
	http: async () => (await import("./http.ts")).measureHttp(),
	page: async () => (await import("./page.ts")).measurePage(),
	processes: async () => (await import("./processes.ts")).measureProcesses(),
	schedule: async () => (await import("./schedule.ts")).measureSchedule(),
	start: async () => (await import("./start.ts")).measureStart(),
	walls: async () => (await import("./walls.ts")).measureWalls(),
};

const PROFILES: Readonly<Record<string, () => Promise<Row[]>>> = {
	store: async () => (await import("./store-profile.ts")).profileStore(),
};

const args = process.argv.slice(2);
const FLAGS = ["--json", "--full", "--profile"];
const json = args.includes("--json");
const full = args.includes("--full");
const [area = "", ...rest] = args.filter((arg) => !FLAGS.includes(arg));
const areas = args.includes("--profile") ? PROFILES : AREAS;
const measure = Object.hasOwn(areas, area) ? areas[area] : undefined;
const output = createOutput(process, { json });

if (!measure || rest.length > 0) {
	const asked = area === "" ? "no area given" : `no such area: ${args.join(" ")}`;
	process.stderr.write(
		`bench: ${asked}\nusage: npm run bench -- <area> [--json] [--full] [--profile]\nareas: ${Object.keys(AREAS).join(", ")}\n`,
	);
	process.exitCode = 2;
} else {
	if (process.stderr.isTTY) process.stderr.write(`measuring ${area} ...\n`);
	const rows = await measure({ full });
	if (json) output.value({ area, node: process.versions.node, cpus: availableParallelism(), rows });
	else output.table(["what", "value", "unit", "bar", "holds"], rows.map(cells));
	if (rows.some(({ holds }) => holds === false)) process.exitCode = 1;
}

function cells({ name, value, unit, bar, holds }: Row): string[] {
	const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
	return [
		name,
		number.format(value),
		unit,
		bar === null ? "" : number.format(bar),
		holds === null ? "" : holds ? "yes" : "NO",
	];
}
