// Kills a process on the other machine reliably: ask, wait, kill, and check what is left. Anything left is named. The waiting parent
// there is not a member and is never signalled: it still has to report the end.
import { setTimeout as delay } from "node:timers/promises";
import type { Member } from "../membership.ts";
import type { KillOptions } from "../types.ts";
import { lookFor, type RemoteFamily, signalScript } from "./family.ts";
import type { RemoteShell } from "./shell.ts";

const GRACE_MS = 5000;
const ROUNDS = 5;
const ROUND_MS = 1000;

/** Returns the pids still alive. `members`: those alive now. */
export async function endRemoteFamily(
	shell: RemoteShell,
	family: RemoteFamily,
	members: readonly Member[],
	{ signal = "SIGTERM", graceMs = GRACE_MS }: KillOptions,
): Promise<number[]> {
	let seen = members;
	const tell = (signals: readonly string[]) => signalMembers(shell, family, seen, signals);
	const isOver = async (withinMs: number) => {
		const until = performance.now() + withinMs;
		for (let pause = 10; ; pause = Math.min(pause * 2, 200)) {
			seen = await lookFor(shell, { ...family, witnesses: seen });
			if (seen.length === 0) return true;
			const left = until - performance.now();
			if (left <= 0) return false;
			await delay(Math.min(pause, left));
		}
	};
	// A stopped process would notice only when it continues.
	await tell([signal, "SIGCONT"]);
	if (await isOver(graceMs)) return [];
	for (let round = 0; round < ROUNDS; round++) {
		await tell(["SIGKILL"]);
		if (await isOver(ROUND_MS)) return [];
	}
	return seen.map(({ pid }) => pid);
}

/** Returns whether there was anyone. The leader's whole group at once: otherwise a member could start another meanwhile. */
export async function signalMembers(
	shell: RemoteShell,
	{ leader, group }: RemoteFamily,
	members: readonly Member[],
	signals: readonly string[],
): Promise<boolean> {
	const isLed = group === leader.pid && members.some(({ pid }) => pid === leader.pid);
	const targets = [
		...(isLed ? [{ identity: leader, group: true }] : []),
		...members
			.filter((member) => !isLed || member.group !== leader.pid)
			.map((identity) => ({ identity, group: false })),
	];
	if (targets.length === 0) return false;
	return Number((await shell.ask(signalScript(targets, signals), { once: true })).trim()) > 0;
}
