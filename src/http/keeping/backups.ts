// Backups: made on the operator's request on this machine, and the age of the last one. Only on the socket: the call names a file, which
// a login to the page must not write or read.
import { isAbsolute } from "node:path";
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import { type ApiHost, type HandlersOf, operator } from "../call.ts";
import { endpoint } from "../endpoint.ts";
import { time } from "../schemas.ts";
import { iso } from "../wire.ts";

const SHORTEST_PASSPHRASE = 8;

export const backupEndpoints = {
	lastBackup: endpoint("get", "/api/backup", {
		about: "the last backup that was made, and the last attempt if it failed",
		answer: z.object({
			made: z.object({ at: time, path: z.string(), bytes: z.int() }).nullable(),
			failed: z.object({ at: time, reason: z.string() }).nullable(),
		}),
	}),
	makeBackup: endpoint("post", "/api/backup", {
		about: "back up the store to a new file on this machine; only on the socket",
		body: {
			path: z.string().min(1).max(4096).refine(isAbsolute, "must be an absolute path"),
			passphrase: z.string().min(SHORTEST_PASSPHRASE).max(1024).optional(),
		},
		answer: z
			.object({
				path: z.string(),
				bytes: z.int(),
				encrypted: z.boolean(),
				conversations: z.int(),
				sessions: z.int(),
				messages: z.int(),
			})
			.openapi("Backup"),
	}),
} as const;

export const backupHandlers: HandlersOf<typeof backupEndpoints> = {
	lastBackup: async (_input, { host, scope }) => {
		const { made, failed } = await host.store.lastBackup({ scope: operator(scope) });
		return {
			made: made && { ...made, at: iso(made.at) },
			failed: failed && { ...failed, at: iso(failed.at) },
		};
	},
	makeBackup: async ({ path, passphrase }, { host, visitor }) => {
		if (visitor.via !== "cli")
			throw new KeryxError("http.forbidden", "a backup can only be made on the machine Keryx runs on", {
				hint: "run `keryx backup <file>` there",
			});
		const { encrypted, bytes, conversations, sessions, messages } = await backupsOf(host).make(
			path,
			passphrase ?? null,
		);
		return { path, bytes, encrypted, conversations, sessions, messages };
	},
};

function backupsOf({ backups }: ApiHost): NonNullable<ApiHost["backups"]> {
	if (backups) return backups;
	throw new KeryxError("store.unsupported", "this Keryx cannot make backups");
}
