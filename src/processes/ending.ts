// Kills a process reliably: ask, wait, kill, and check what is left. Anything left is named.
import { setTimeout as delay } from "node:timers/promises";
import { type Family, livingMembers, signalGroup, signalOne } from "./members.ts";
import type { Member } from "./membership.ts";
import type { KillOptions, ProcessIdentity } from "./types.ts";

const GRACE_MS = 5000;
const ROUNDS = 5;
/** A killed process is gone after this, unless the kernel holds it. */
const ROUND_MS = 1000;

/** Returns the pids that are still alive. */
export async function endFamily(
	family: Family,
	{ signal = "SIGTERM", graceMs = GRACE_MS }: KillOptions = {},
): Promise<number[]> {
	const hunt = new Hunt(family);
	hunt.signal(signal as NodeJS.Signals);
	// A stopped process would notice only when it continues.
	hunt.signal("SIGCONT");
	if (await hunt.isOver(graceMs)) return [];
	for (let round = 0; round < ROUNDS; round++) {
		hunt.signal("SIGKILL");
		if (await hunt.isOver(ROUND_MS)) return [];
	}
	return hunt.look().map(({ pid }) => pid);
}

class Hunt {
	readonly #family: Family;
	#seen: readonly ProcessIdentity[];

	constructor(family: Family) {
		this.#family = family;
		this.#seen = family.witnesses;
	}

	look(): readonly Member[] {
		const members = livingMembers({ ...this.#family, witnesses: this.#seen });
		this.#seen = members;
		return members;
	}

	signal(signal: NodeJS.Signals): void {
		const members = this.look();
		const { leader } = this.#family;
		// The whole group at once: otherwise a member could start another meanwhile. And each of them once.
		const signalled = leader && signalGroup(leader, signal) ? leader.pid : null;
		for (const member of members) if (member.group !== signalled) signalOne(member, signal);
	}

	async isOver(withinMs: number): Promise<boolean> {
		const until = performance.now() + withinMs;
		for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
			if (this.look().length === 0) return true;
			const left = until - performance.now();
			if (left <= 0) return false;
			await delay(Math.min(pause, left));
		}
	}
}
