// Programs that this command wrote or fetched before and now runs: by their path, by an interpreter, or as the file that a build tool
// looks for.
import { isKnown, plainField } from "../field.ts";
import { absolutePath, isWithin } from "../files/paths.ts";
import { awkWords, sedWords } from "../files/special.ts";
import { readAwk } from "../languages/awk.ts";
import { interpreterOf } from "../languages/interpreters.ts";
import { readSed } from "../languages/sed.ts";
import { operands, optionValue, optionValues } from "../options.ts";
import type { Scope, WrittenFile } from "../shell/scope.ts";
import type { Field, Invocation } from "../types.ts";
import type { Inner } from "./inner.ts";
import { fileInner, isDownload, scriptOf, unseen, writtenAt } from "./shells.ts";

type Files = ReadonlyMap<string, WrittenFile>;

export function writtenProgram(invocation: Invocation, scope: Scope): Inner[] {
	const { path, name, args, cwd } = invocation;
	const { files } = scope;
	const fetched = fromArchive(invocation, scope);
	if (fetched.length > 0) return fetched;
	const project = PROJECTS.find(({ names }) => names.test(name));
	if (project) return project.inner(invocation, files);
	if (/^g?sed$/.test(name)) return scriptFiles(invocation, files, sedWords(args).scriptFiles, sedRuns);
	if (/^([gmn]?awk|original-awk)$/.test(name))
		return scriptFiles(invocation, files, awkWords(args).programFiles, awkRuns);
	if (files.size === 0) return [];
	if (/^(psql|mysql|mariadb|sqlite3|duckdb|mongosh|clickhouse-client|cockroach)$/.test(name))
		return statements(invocation, files);
	if (path.includes("/")) {
		const at = absolutePath(path, cwd);
		if (at !== null && files.has(at)) return fileInner(plainField(path), invocation, files, args);
	}
	const code = interpreted(invocation, files);
	return code ? [code.text === null ? unseen(code.from) : { kind: "code", text: code.text }] : [];
}

/** Files of statements, wherever they are named. */
function statements(invocation: Invocation, files: Files): Inner[] {
	return invocation.args.slice(0, 32).flatMap((arg): Inner[] => {
		const name = arg.text.replace(/^(-f|--file=|-init|\.read |\\i |source )/, "").trim();
		const written = writtenAt({ ...arg, text: name }, invocation, files);
		if (!written) return [];
		return [
			written.text === null ? unseen(written.from) : { kind: "code", text: written.text, language: "sql" },
		];
	});
}

/** The script of an interpreter, with the endings that it may add, or a module. */
function interpreted(invocation: Invocation, files: Files): WrittenFile | undefined {
	const { name, args } = invocation;
	const interpreter = interpreterOf(name);
	const runs = interpreter || /^(go|cargo|dotnet|java|zig|crystal|nim|v|npx|bunx)$/.test(name);
	if (!runs) return undefined;
	const module = optionValue(args, "-m");
	const words = [
		...operands(args).slice(0, 3),
		...(module ? [{ ...module, text: module.text.replaceAll(".", "/") }] : []),
	];
	for (const word of words)
		for (const ending of ["", ".js", ".mjs", ".cjs", ".ts", ".py", ".java", "/__main__.py", "/index.js"]) {
			const written = writtenAt({ ...word, text: word.text + ending }, invocation, files);
			if (written) return written;
		}
	return undefined;
}

/** Programs started from this folder after an archive from the network was unpacked in it. */
function fromArchive({ path, name, args, cwd }: Invocation, { unpackedFrom }: Scope): Inner[] {
	if (!isDownload(unpackedFrom)) return [];
	const script =
		/^(sh|bash|zsh|dash)$/.test(name) || interpreterOf(name) ? operands(args)[0]?.text : undefined;
	const started = script ?? (path.includes("/") ? path : undefined);
	const at = started === undefined || cwd === null ? null : absolutePath(started, cwd);
	return at !== null && cwd !== null && isWithin(at, cwd) ? [unseen(unpackedFrom)] : [];
}

function scriptFiles(
	invocation: Invocation,
	files: Files,
	given: readonly Field[],
	runs: (text: string) => boolean,
): Inner[] {
	return given.flatMap((file): Inner[] => {
		if (!isKnown(file.text) || /^\/dev\/fd\/[1-9]|^\/proc\//.test(file.text)) return [unseen(file.from)];
		if (/^(-|\/dev\/(stdin|fd\/0))$/.test(file.text)) {
			const { stdin } = invocation;
			return stdin.kind === "text" && isKnown(stdin.text) && !runs(stdin.text) ? [] : [unseen(file.from)];
		}
		const written = writtenAt(file, invocation, files);
		if (!written) return [];
		return written.text === null || runs(written.text) ? [unseen(written.from)] : [];
	});
}

function sedRuns(text: string): boolean {
	const { runs, writes, reads, understood } = readSed(text);
	return runs || !understood || writes.length > 0 || reads.length > 0;
}

function awkRuns(text: string): boolean {
	const { runs, writes, reads } = readAwk(text);
	return runs || writes.length > 0 || reads.length > 0;
}

interface Project {
	readonly names: RegExp;
	inner(invocation: Invocation, files: Files): Inner[];
}

/** Build tools, and the file that tells them what to run. */
const PROJECTS: readonly Project[] = [
	{ names: /^(g|b|n)?make$/, inner: (invocation, files) => makeInner(invocation, files) },
	{
		names: /^(npm|pnpm|yarn|bun)$/,
		inner: (invocation, files) => [
			...projectFile(invocation, files, ["package.json"], packageScripts),
			...projectFile(invocation, files, [".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs"], () => null),
		],
	},
	{
		names: /^(docker|docker-compose|podman|podman-compose)$/,
		inner: (invocation, files) =>
			projectFile(invocation, files, COMPOSE_FILES, (text) => (REACHES_OUT.test(text) ? null : [])),
	},
	{
		names:
			/^(just|rake|invoke|task|gulp|grunt|cmake|ninja|meson|gradle|gradlew|mvn|mvnw|tox|nox|ant|bazel|scons|pytest)$/,
		inner: (invocation, files) => projectFile(invocation, files, OTHER_FILES, () => null),
	},
];
const COMPOSE_FILES = ["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"];
/** A service that reaches the machine itself. */
const REACHES_OUT =
	/privileged|docker\.sock|cap_add|network_mode|pid:|devices:|^\s*-\s*["']?(\/|~|\.\.)|source:\s*["']?(\/|~|\.\.)/m;
const MAKEFILES = ["Makefile", "makefile", "GNUmakefile"];
const OTHER_FILES =
	`justfile Justfile Rakefile tasks.py Taskfile.yml gulpfile.js Gruntfile.js CMakeLists.txt build.ninja meson.build build.gradle
	build.gradle.kts pom.xml tox.ini noxfile.py build.xml BUILD SConstruct conftest.py`.split(/\s+/);

function makeInner(invocation: Invocation, files: Files): Inner[] {
	const given = optionValues(invocation.args, "-f", "--file", "--makefile");
	const inline = given.filter(({ text }) => text === "-" || /^\/dev\//.test(text) || !isKnown(text));
	if (inline.length > 0) {
		const { stdin } = invocation;
		const recipes = stdin.kind === "text" && isKnown(stdin.text) ? recipesOf(stdin.text) : null;
		return [
			...(recipes ?? []),
			unseen(
				inline.flatMap(({ from }) => from),
				"makes make run rules that are not in a file",
			),
		];
	}
	return projectFile(
		invocation,
		files,
		given.length > 0 ? given.map(({ text }) => text) : MAKEFILES,
		recipesOf,
	);
}

function projectFile(
	invocation: Invocation,
	files: Files,
	names: readonly string[],
	read: (text: string) => Inner[] | null,
): Inner[] {
	const folder = optionValue(invocation.args, "-C", "--directory", "--prefix", "--cwd", "--dir")?.text;
	return names.flatMap((name): Inner[] => {
		const written = writtenAt(
			plainField(folder === undefined ? name : `${folder}/${name}`),
			invocation,
			files,
		);
		if (!written) return [];
		return (written.text === null ? null : read(written.text)) ?? [unseen(written.from)];
	});
}

/** The commands of a makefile; null if it contains more than rules with commands. */
function recipesOf(makefile: string): Inner[] | null {
	const scripts: Inner[] = [];
	for (const line of makefile.split("\n")) {
		if (/\$\(shell|\$\{shell|!=|^-?include\b|^\s*(export\s+)?SHELL\b|\.ONESHELL/.test(line)) return null;
		const inline = /^[^\t#:=]+::?[^=;]*;(.*)$/.exec(line)?.[1];
		const recipe = line.startsWith("\t") ? line : inline;
		if (recipe === undefined) continue;
		// make's own variables are not the shell's.
		const script = recipe
			.trim()
			.replace(/^[@+-]+/, "")
			.replaceAll("$$", "$")
			.replace(/\$[@<^+?*%]/g, "x");
		if (script !== "") scripts.push(scriptOf(plainField(script)));
	}
	return scripts;
}

function packageScripts(text: string): Inner[] | null {
	try {
		const parsed: unknown = JSON.parse(text);
		const scripts =
			typeof parsed === "object" && parsed !== null && "scripts" in parsed ? parsed.scripts : {};
		const lines = Object.values(scripts ?? {}).filter((line) => typeof line === "string");
		return lines.map((line) => scriptOf(plainField(line)));
	} catch {
		return null;
	}
}
