// Facts about the machine, read once: where bubblewrap is and what it can do, and what a box shows of the system.
import { execFileSync } from "node:child_process";
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { lookForCgroups } from "./cgroups.ts";
import { unique } from "./paths.ts";
import type { Machine, Pasta } from "./types.ts";

/** Only system folders. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
const SYSTEM_FOLDERS = ["/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];
/** Not all of /etc, nor of ssl: for root, shadow and private keys would be readable. */
const ETC = [
	...[
		"alternatives",
		"ld.so.cache",
		"ld.so.conf",
		"ld.so.conf.d",
		"passwd",
		"group",
		"nsswitch.conf",
		"hosts",
	],
	...[
		"host.conf",
		"gai.conf",
		"resolv.conf",
		"services",
		"protocols",
		"networks",
		"ssl/certs",
		"ssl/openssl.cnf",
	],
	...["ca-certificates", "ca-certificates.conf", "pki/ca-trust", "pki/tls/certs", "pki/tls/cert.pem"],
	...["pki/tls/openssl.cnf", "crypto-policies", "localtime", "timezone", "locale.alias", "locale.conf"],
	...[
		"default/locale",
		"gitconfig",
		"mime.types",
		"bash.bashrc",
		"profile",
		"profile.d",
		"inputrc",
		"terminfo",
	],
	...[
		"vim",
		"os-release",
		"lsb-release",
		"debian_version",
		"fonts",
		"perl",
		"python3",
		"login.defs",
		"shells",
	],
];
const OTHERS_READ = 0o004;
/** A folder with at most this many files is copied: that costs less than a mount. */
const FEW_FILES = 8;
const HELP_MS = 10_000;

/** Null if bubblewrap, or a shell and an env, is not installed. */
export function readMachine(): Machine | null {
	const bwrap = findProgram("bwrap");
	const env = findProgram("env");
	const shell = findProgram("sh");
	if (bwrap === null || env === null || shell === null) return null;
	const help = helpOf(bwrap);
	return {
		bwrap,
		// A setuid one refuses it.
		canDisableUserns: help.includes("--disable-userns") && !isSetuid(bwrap),
		canBindDescriptors: /^\s*--bind-fd\b/m.test(help),
		env,
		shell,
		systemFolders: SYSTEM_FOLDERS.flatMap((path) => {
			const found = lstatSync(path, { throwIfNoEntry: false });
			if (!found) return [];
			return { path, link: found.isSymbolicLink() ? readlinkSync(path) : null };
		}),
		etc: readableEtc(),
		cgroups: lookForCgroups(),
		pasta: findPasta(),
	};
}

/**
 * What the gateway runs and must not be written behind a wall: its own folder, Node, and the folders of PATH that this user can write.
 * For root that is all of /usr, with the libraries. An administering root keeps these: `apt install` writes there.
 */
export function protectedPrograms({
	folder,
	path = process.env.PATH ?? "",
	isAdmin = false,
}: {
	/** Keryx's own program folder. */
	readonly folder: string;
	readonly path?: string;
	readonly isAdmin?: boolean;
}): string[] {
	const onPath = isAdmin
		? []
		: ["/usr", ...path.split(delimiter)].filter((one) => one.startsWith("/") && isWritableFolder(one));
	const node = realpathSync(process.execPath);
	return unique([realpathSync(folder), ...nodeFolder(node), ...onPath.map((one) => realpathSync(one))]);
}

/** The folder Node was unpacked into, or only Node if that is a system folder. */
export function nodeFolder(node: string): string[] {
	const prefix = dirname(dirname(node));
	return ["/", "/usr", "/usr/local"].includes(prefix) ? [node] : [prefix];
}

function findPasta(): Pasta | null {
	const program = findProgram("pasta");
	const unshare = findProgram("unshare");
	const nsenter = findProgram("nsenter");
	return program === null || unshare === null || nsenter === null ? null : { program, unshare, nsenter };
}

function findProgram(name: string): string | null {
	return FOLDERS.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

function helpOf(program: string): string {
	try {
		return execFileSync(program, ["--help"], {
			encoding: "utf8",
			env: {},
			timeout: HELP_MS,
			stdio: ["ignore", "pipe", "ignore"],
		});
	} catch {
		// The probe says what is wrong with it.
		return "";
	}
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

function isSetuid(path: string): boolean {
	return (statSync(path).mode & 0o4000) !== 0;
}

function readableEtc(): Machine["etc"] {
	const files: string[] = [];
	const folders: string[] = [];
	for (const name of ETC) {
		const path = join("/etc", name);
		const found = statSync(path, { throwIfNoEntry: false });
		if (!found || (found.mode & OTHERS_READ) === 0) continue;
		const few = found.isDirectory() ? fewFiles(path) : [path];
		if (few === null) folders.push(path);
		else files.push(...few);
	}
	return { files, folders };
}

/** Its world-readable files; null if there are more than a few. */
function fewFiles(folder: string): string[] | null {
	const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => !entry.isDirectory()).map((one) => join(one.parentPath, one.name));
	if (files.length > FEW_FILES) return null;
	return files.filter((file) => {
		const found = statSync(file, { throwIfNoEntry: false });
		return found?.isFile() && (found.mode & OTHERS_READ) !== 0;
	});
}

function isWritableFolder(path: string): boolean {
	try {
		accessSync(path, constants.W_OK);
		return statSync(path).isDirectory();
	} catch {
		return false;
	}
}
