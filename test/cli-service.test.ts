// `keryx service`: the definitions it writes, and what it asks of the service manager.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { launchdAgent, systemdUnit } from "../src/cli/commands/service/definition.ts";
import { managerOf, takesSubgroups } from "../src/cli/commands/service/manager.ts";
import { commandIn, MAIN } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-service-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FACTS = {
	command: ["/usr/bin/node", "/opt/with space/100% $HOME/keryx.mjs"],
	home: "/home/ada/.keryx",
	environmentFile: "/home/ada/.keryx/service.env",
	path: "/usr/bin:/bin",
	drainSeconds: 30,
	delegates: true,
};

test("the unit quotes what systemd would read otherwise, and lets the agent's programs live on", () => {
	const unit = systemdUnit(FACTS);
	expect(unit).toContain('ExecStart="/usr/bin/node" "/opt/with space/100%% $$HOME/keryx.mjs"');
	expect(unit).toContain("KillMode=process");
	expect(unit).toContain("Restart=on-failure");
	expect(unit).toContain("TimeoutStopSec=60");
	expect(unit).toContain("EnvironmentFile=-/home/ada/.keryx/service.env");
	expect(unit).toContain("DelegateSubgroup=keryx");
	expect(systemdUnit({ ...FACTS, delegates: false })).not.toContain("Delegate");
});

const hasAnalyze = spawnSync("systemd-analyze", ["--version"]).error === undefined;
// Where there is no systemd there is nothing that could check its units.
const whereSystemd = (name: string, check: () => void) => (hasAnalyze ? test(name, check) : undefined);
whereSystemd("systemd finds nothing wrong with the unit", () => {
	const folder = join(root, "units");
	mkdirSync(folder);
	const file = join(folder, "keryx.service");
	writeFileSync(
		file,
		systemdUnit({ ...FACTS, command: [process.execPath, MAIN], delegates: takesSubgroups() }),
	);
	const { stderr, status } = spawnSync("systemd-analyze", ["verify", "--user", file], {
		encoding: "utf8",
		env: { ...process.env, XDG_RUNTIME_DIR: root, HOME: root },
	});
	const about = stderr.split("\n").filter((line) => line.includes("keryx.service"));
	expect([status, about]).toEqual([0, []]);
});

test("the launchd agent is well-formed, reads the environment file and starts Keryx in its place", () => {
	const text = launchdAgent({ ...FACTS, home: "/Users/ada & eve/.keryx" });
	expect(text).toContain("<string>/Users/ada &amp; eve/.keryx</string>");
	expect(text).toContain("<key>AbandonProcessGroup</key><true/>");
	const words = [...text.matchAll(/\t\t<string>([^<]*)<\/string>/g)].map(([, word]) => word as string);
	const [shell = "", flag = "", script = ""] = words.slice(0, 3).map((word) => word.replaceAll("&amp;", "&"));
	const environment = join(root, "launchd.env");
	writeFileSync(environment, "GREETING='good day'\n");
	const said = execFileSync(shell, [flag, script, environment, "printenv", "GREETING"], { encoding: "utf8" });
	expect(said).toBe("good day\n");
});

test("an agent of launchd that is loaded already is replaced, and one that is not loaded can be removed", () => {
	const { release, start, stop } = managerOf({ env: { HOME: root } }, "darwin");
	expect(release).toEqual([
		["launchctl", "bootout", expect.stringMatching(/^gui\/\d+\/org\.keryx\.gateway$/)],
	]);
	expect([start.map(([, word]) => word), stop]).toEqual([["bootstrap"], []]);
});

test("it is installed and removed through the service manager, and its environment is private", async () => {
	const bin = join(root, "bin");
	mkdirSync(bin);
	const asked = join(root, "asked");
	writeFileSync(join(bin, "systemctl"), `#!/bin/sh\necho "$*" >> ${asked}\n`);
	chmodSync(join(bin, "systemctl"), 0o755);
	const home = join(root, "home");
	const env = { HOME: root, KERYX_HOME: home, PATH: `${bin}:${process.env.PATH}`, TZ: "UTC" };
	const keryx = (...words: string[]) =>
		new Promise<{ code: number | null; said: string }>((resolve) => {
			const child = spawn(
				process.execPath,
				["--disable-warning=ExperimentalWarning", MAIN, "service", ...words],
				{ env },
			);
			let said = "";
			for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
			child.on("close", (code) => resolve({ code, said }));
		});
	const file = join(root, ".config/systemd/user/keryx.service");
	expect(await keryx("install")).toEqual({ code: 0, said: expect.stringContaining(file) });
	expect(readFileSync(file, "utf8")).toContain(`"KERYX_HOME=${home}"`);
	expect(statSync(join(home, "service.env")).mode & 0o777).toBe(0o600);
	expect(readFileSync(asked, "utf8").trim().split("\n")).toEqual([
		"--version",
		"--user daemon-reload",
		"--user enable keryx.service",
		"--user restart keryx.service",
	]);
	expect((await keryx("uninstall")).code).toBe(0);
	expect(existsSync(file)).toBe(false);
	// One that was started by hand has the store, so the service could not start.
	const started = await commandIn(root).start(home);
	expect(await keryx("install")).toEqual({
		code: 1,
		said: expect.stringContaining(`Keryx is already running in ${home}`),
	});
	expect(existsSync(file)).toBe(false);
	expect((await keryx("install", "--no-start")).code).toBe(0);
	await started.stop();
	writeFileSync(join(bin, "systemctl"), "#!/bin/sh\necho no bus >&2; exit 1\n");
	const failed = await keryx("install");
	expect([failed.code, failed.said]).toEqual([
		1,
		expect.stringContaining("daemon-reload` failed with code 1"),
	]);
});

test("the container runs without rights, keeps one volume, and is reached from this machine only", () => {
	const read = (name: string) => readFileSync(join(import.meta.dirname, "..", name), "utf8");
	const compose = parse(read("compose.yaml"));
	expect(compose.services.keryx).toMatchObject({
		read_only: true,
		cap_drop: ["ALL"],
		volumes: ["keryx:/data"],
		ports: ["127.0.0.1:7717:7717"],
	});
	const beside = parse(read("compose.postgres.yaml"));
	expect(beside.services.postgres).toMatchObject({ read_only: true, cap_drop: ["ALL"], user: "postgres" });
	expect(beside.services.postgres).not.toHaveProperty("ports");
	expect(beside.services.keryx.depends_on.postgres).toEqual({ condition: "service_healthy" });
	// Both read the same password, and neither file holds it.
	expect(beside.services.keryx.environment.PGPASSWORD).toBe(
		beside.services.postgres.environment.POSTGRES_PASSWORD,
	);
	expect(beside.services.postgres.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
	const lines = read("Dockerfile").split("\n");
	const last = lines.slice(lines.lastIndexOf("FROM node:24-bookworm-slim"));
	expect(last).toContain("USER node");
	expect(last.some((line) => line.startsWith("HEALTHCHECK "))).toBe(true);
	expect(lines.filter((line) => /^(ADD|COPY|RUN).*(secret|token|key)/i.test(line))).toEqual([]);
});
