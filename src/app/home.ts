// Keryx's home: where the store and the keys are, and the name of this gateway if several share the store. Made private when first used.
import { createHash, createHmac } from "node:crypto";
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import type { NodeOptions } from "../store/index.ts";

/** The API's socket, within the home. */
const SOCKET = "keryx.sock";

export interface Home {
	readonly path: string;
	readonly storePath: string;
	readonly storeUrl: string;
	readonly socketPath: string;
}

/** Where everything is, or would be. */
export function homeAt(path: string): Home {
	const storePath = join(path, "keryx.db");
	return { path, storePath, storeUrl: `sqlite:${storePath}`, socketPath: join(path, SOCKET) };
}

/** Where the store is: on a server that the configuration names, or in the home. */
export function storeUrlOf(home: Pick<Home, "storeUrl">, { store }: Pick<Config, "store">): string {
	return isOnServer(store) ? store.url : home.storeUrl;
}

export function isOnServer({ url }: Config["store"]): boolean {
	return url.startsWith("postgres");
}

/** Whether there may be a store: a server has to be asked. */
export function mayHaveStore(home: Pick<Home, "storePath">, { store }: Pick<Config, "store">): boolean {
	return isOnServer(store) || existsSync(home.storePath);
}

/** The same, made if it is not there. */
export function openHome(path: string): Home {
	try {
		mkdirSync(path, { recursive: true, mode: 0o700 });
	} catch (cause) {
		throw new KeryxError("home.unusable", `cannot create Keryx's home ${path}: ${(cause as Error).message}`, {
			cause,
		});
	}
	return homeAt(path);
}

/** The installation's key for pseudonyms, drawn when first needed. It never enters the store. */
export function pseudonymKey(home: Home, random: (bytes: number) => Uint8Array): Uint8Array {
	return keyIn(
		join(home.path, "pseudonym.key"),
		random,
		"restore it from a backup; without it pseudonyms change, so remove it only if you want that",
	);
}

/** The key of the audit's codes. It is never stored in the database, so whoever alters the database cannot forge them. */
export function auditKey(home: Home, random: (bytes: number) => Uint8Array): Uint8Array {
	return auditKeyAt(join(home.path, AUDIT_KEY), random);
}

/** The same if it exists, for read-only access. */
export function auditKeyIn(home: Home): Uint8Array | undefined {
	const file = join(home.path, AUDIT_KEY);
	return existsSync(file) ? readKey(file, AUDIT_KEY_HINT) : undefined;
}

/** A digest of the keys that gateways on one store share. */
export function digestOfKeys(home: Home, random: (bytes: number) => Uint8Array): string {
	const keys = createHash("sha256").update("keryx keys");
	for (const key of [auditKey(home, random), pseudonymKey(home, random)]) keys.update(key);
	return keys.digest("hex");
}

/** Signs login links and page keys where gateways share a store: a login at one holds at all. */
export function sharedPageSecret(home: Home, random: (bytes: number) => Uint8Array): string {
	return createHmac("sha256", auditKey(home, random)).update("keryx page").digest("base64url");
}

/** How many entries the audit has and the code of the last one, outside the store: it shows what was done to the whole of it. */
export function auditWitness(home: Home): string {
	return join(home.path, "audit.witness");
}

const AUDIT_KEY = "audit.key";
const AUDIT_KEY_HINT =
	"restore it from a backup; without it the existing audit cannot be verified or continued";

/** The same in a separate file, for another store than Keryx's. */
export function auditKeyAt(file: string, random: (bytes: number) => Uint8Array): Uint8Array {
	return keyIn(file, random, AUDIT_KEY_HINT);
}

/** Whoever can read it is the operator. A program of the same user can, too. */
export function operatorSecret(home: Home, random: (bytes: number) => Uint8Array): string {
	const file = join(home.path, OPERATOR_SECRET);
	makeOnce(file, `${Buffer.from(random(32)).toString("base64url")}\n`);
	const secret = readFileSync(file, "utf8").trim();
	if (secret.length < SHORTEST_SECRET)
		throw new KeryxError("home.unusable", `${file} must contain at least ${SHORTEST_SECRET} characters`, {
			hint: "remove it: the next start makes a new one",
		});
	return secret;
}

/** The same for a client, if it exists and is readable. */
export function readOperatorSecret(home: Home): string | undefined {
	try {
		return readFileSync(join(home.path, OPERATOR_SECRET), "utf8").trim() || undefined;
	} catch {
		return undefined;
	}
}

const OPERATOR_SECRET = "operator.secret";
const SHORTEST_SECRET = 32;
const KEY_BYTES = 32;

function keyIn(file: string, random: (bytes: number) => Uint8Array, hint: string): Uint8Array {
	makeOnce(file, random(KEY_BYTES));
	return readKey(file, hint);
}

function readKey(file: string, hint: string): Uint8Array {
	const key = readFileSync(file);
	if (key.length !== KEY_BYTES)
		throw new KeryxError("home.unusable", `${file} must contain ${KEY_BYTES} bytes, not ${key.length}`, {
			hint,
		});
	return key;
}

/** Complete or absent, and never overwriting: two concurrent starts end up with the same file. */
function makeOnce(file: string, content: Uint8Array | string): void {
	if (!existsSync(file)) {
		const draft = `${file}.${process.pid}`;
		writeFileSync(draft, content, { mode: 0o600 });
		try {
			linkSync(draft, file);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		} finally {
			rmSync(draft);
		}
	}
	chmodSync(file, 0o600);
}

/** Names what runs here, too: the same after a restart, another for each gateway. */
export function nodeName({ node }: Pick<Config, "node">, home: string): string {
	return node.name ?? `${hostname()}:${home}`;
}

export function nodeOf(config: Pick<Config, "store" | "node" | "lease">, home: string): NodeOptions {
	const { store, lease } = config;
	return {
		nodes: store.nodes,
		...(store.nodes === "many" && { name: nodeName(config, home) }),
		leaseMs: lease.seconds * 1000,
		heartbeatMs: lease.heartbeat_seconds * 1000,
	};
}
