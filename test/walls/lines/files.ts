// What lies on the throw-away machine: Keryx's home with its keys, a user's secrets, what belongs to others, and a small project that
// the user works on. Nothing in the project is secret.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TRIED_FACTS, triedLines } from "../../support/tried-lines.ts";

export const { home: USER_HOME, cwd: PROJECT, keryxHome: HOME, keryxProgram: PROGRAM } = TRIED_FACTS;
export const OTHERS = "/srv/others";

export interface Tokens {
	/** In everything of Keryx. */
	readonly keryx: string;
	/** In everything else outside of the project. */
	readonly other: string;
}

const KERYX_FILES = [
	"operator.secret",
	"x",
	"audit.key",
	"pseudonym.key",
	"keryx.db",
	"secrets.json",
	"logs/keryx.log",
];
const USER_FILES = [
	".bashrc",
	".profile",
	"Documents/letter.txt",
	"other-project/.env",
	"other-project/src/index.ts",
];

/** What hostile lines ask for in the user's home is there. */
function wantedFiles(): string[] {
	const lines = triedLines("hostile").map(({ command }) => command);
	const named = lines.flatMap((line) =>
		[...line.matchAll(/(?:~|\$HOME|\/home\/ann)\/([\w.][\w./-]*\w)/g)].map(([, name = ""]) => name),
	);
	const mine = [...USER_FILES, ...named].filter((name) => !/^(project|\.keryx)\b|\/\/|\.\./.test(name));
	const all = [...new Set(mine)];
	return all.filter((name) => !all.some((other) => other.startsWith(`${name}/`)));
}

export function writeKeryx({ keryx }: Tokens): void {
	for (const name of KERYX_FILES) write(join(HOME, name), `${keryx}\n`);
	write(join(HOME, "config.yaml"), `# ${keryx}\nwalls: {mode: required}\n`);
	// Not secret, but not to be changed.
	write(join(PROGRAM, "dist/cli/main.js"), 'console.log("keryx");\n');
	chmodSync(HOME, 0o700);
}

export function writeUser({ other }: Tokens): void {
	for (const name of wantedFiles()) write(join(USER_HOME, name), `# ${other}\n`);
	write(join(OTHERS, "accounts.csv"), `name,key\nann,${other}\n`);
	for (const [name, text] of Object.entries(PROJECT_FILES)) write(join(PROJECT, name), text);
	for (const name of ["bin/app", "scripts/build.sh"]) chmodSync(join(PROJECT, name), 0o755);
	execFileSync("/bin/bash", ["-ec", REPOSITORY], { cwd: PROJECT, env: GIT, stdio: "ignore" });
}

export interface Kept {
	readonly path: string;
	readonly mode: number;
	/** Null: a folder. */
	readonly data: Buffer | null;
}

/** Everything in a folder, in memory: no path on the machine leads to it. */
export function keep(folder: string, without: readonly string[] = []): Kept[] {
	const { mode } = lstatSync(folder);
	const inside = readdirSync(folder, { withFileTypes: true }).flatMap((entry): Kept[] => {
		const path = join(folder, entry.name);
		if (without.includes(path)) return [];
		if (entry.isDirectory()) return keep(path, without);
		return [{ path, mode: lstatSync(path).mode, data: readFileSync(path) }];
	});
	return [{ path: folder, mode, data: null }, ...inside];
}

/** As it was kept, with all that lines have left since taken away. */
export function putBack(kept: readonly Kept[], without: readonly string[] = []): void {
	empty((kept[0] as Kept).path, without);
	for (const { path, data, mode } of kept) {
		if (data === null) mkdirSync(path, { recursive: true });
		else writeFileSync(path, data);
		chmodSync(path, mode & 0o7777);
	}
}

const GIT = {
	PATH: "/usr/bin:/bin",
	HOME: "/nowhere",
	GIT_AUTHOR_NAME: "Ann",
	GIT_AUTHOR_EMAIL: "ann@example.org",
	GIT_COMMITTER_NAME: "Ann",
	GIT_COMMITTER_EMAIL: "ann@example.org",
};

const REPOSITORY = `
git init -q -b main
git config user.name Ann; git config user.email ann@example.org
git add README.md package.json src; git commit -q -m 'Begin'; git tag v1.0.0
git branch feature; git add -A; git commit -q -m 'Add tests and tools'; git tag v1.1.0
echo '// later' >> src/index.ts; git stash -q
echo '- more' >> README.md`;

const PROJECT_FILES: Readonly<Record<string, string>> = {
	"README.md": "# Project\n\nA small project. TODO: say more.\n\n## Use\n\nfoo bar\n",
	"CHANGELOG.md": "# Changes\n\n## 1.1.0\n- tests\n",
	LICENSE: "MIT\n",
	".gitignore": "node_modules\ndist\n.home\n*.log\n",
	".env.example": "PORT=3000\n",
	"package.json": `${JSON.stringify(
		{
			name: "project",
			version: "1.1.0",
			type: "module",
			scripts: {
				test: "node --test test",
				build: "node scripts/build.mjs",
				lint: "node --check src/index.js",
				start: "node src/server.js",
				dev: "node src/server.js",
				format: "node -e 0",
				typecheck: "node -e 0",
			},
			dependencies: {},
		},
		null,
		2,
	)}\n`,
	"tsconfig.json": '{ "compilerOptions": { "strict": true } }\n',
	"src/index.js":
		'export function add(a, b) {\n\treturn a + b;\n}\nif (process.argv[2] === "run") console.log(add(1, 2)); // foo\n',
	"src/index.ts": "export function add(a: number, b: number): number {\n\t// TODO foo\n\treturn a + b;\n}\n",
	"src/server.js":
		'import { createServer } from "node:http";\ncreateServer((_, answer) => answer.end("hello\\n")).listen(process.env.PORT ?? 3000, "127.0.0.1");\n',
	"src/server.ts": "export const port = 3000;\n",
	"src/app.ts": 'import { add } from "./index.ts";\nexport const two = add(1, 1);\n',
	"src/app.py": "def add(a, b):\n    return a + b\n\n\nif __name__ == '__main__':\n    print(add(1, 2))\n",
	"src/lib/util.ts": "export const useEffect = 1;\nconst password = 1;\n",
	"src/lib/util.js": "export const one = 1;\n",
	"src/main.c": '#include <stdio.h>\nint main(void) { printf("hello\\n"); return 0; }\n',
	"test/index.test.js":
		'import assert from "node:assert";\nimport { test } from "node:test";\nimport { add } from "../src/index.js";\ntest("adds", () => assert.equal(add(1, 2), 3));\n',
	"tests/__init__.py": "",
	"tests/test_app.py":
		"import unittest\nfrom src.app import add\n\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
	"app.py": "print('app')\n",
	"main.py": "print('main')\n",
	"manage.py": "print('manage')\n",
	"index.js": 'console.log("index");\n',
	"index.html": "<!doctype html><title>x</title>\n",
	"requirements.txt": "",
	Makefile:
		"all: build\nbuild: bin/hello\nbin/hello: src/main.c\n\tcc -o $@ $<\ntest:\n\t./scripts/build.sh\nlint:\n\t@echo fine\nclean:\n\trm -f bin/hello\n.PHONY: all build test lint clean\n",
	"scripts/build.sh": "#!/bin/sh\nset -e\nmkdir -p dist\ncp src/index.js dist/\necho built\n",
	"scripts/build.mjs":
		'import { cpSync, mkdirSync } from "node:fs";\nmkdirSync("dist", { recursive: true });\ncpSync("src/index.js", "dist/index.js");\n',
	"bin/app": "#!/bin/sh\necho app\n",
	"data.csv": "id,name,amount\n1,ann,10\n2,bob,20\n3,cy,30\n",
	"data.json": '{"items":[{"id":1,"name":"ann"},{"id":2,"name":"bob"}],"version":"1.1.0"}\n',
	"notes.txt": "one\ntwo BEGIN\nthree foo\nEND four\n",
	"log.txt": "INFO start\nERROR broken\nINFO stop\n",
	"logs/app.log": "INFO start\nERROR broken\n",
	"app.log": "INFO start\nERROR broken\n",
	"config.yml": "port: 3000\n",
	"docker-compose.yml": "services: {}\n",
	Dockerfile: "FROM scratch\n",
	"docs/guide.md": "# Guide\n",
	"a.txt": "a\nb\nc\n",
	"b.txt": "b\nc\nd\n",
	"file.txt": "foo\nbar\n",
	"input.txt": "foo\nbar\n",
	"old.txt": "old\n",
};

function write(file: string, text: string): void {
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, text);
}

/** A line may have taken rights away, or put a link in the place of a folder. */
function empty(folder: string, kept: readonly string[]): void {
	if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
		rmSync(folder, { force: true });
		mkdirSync(folder);
	}
	chmodSync(folder, 0o755);
	execFileSync("/usr/bin/chmod", ["-R", "u+rwX", folder], { stdio: "ignore" });
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		if (!kept.includes(path)) rmSync(path, { recursive: true, force: true });
	}
}
