// Ending a process for good: ask, wait, kill, and look whether anything is left. What is left is named, never passed over.
import { setTimeout as delay } from "node:timers/promises";
import { type Family, livingMembers, type Member, signalGroup, signalOne } from "./members.ts";
import type { KillOptions, ProcessIdentity } from "./types.ts";

const GRACE_MS = 5000;
const ROUNDS = 5;
/** What was killed is gone after this, unless the kernel holds it. */
const ROUND_MS = 1000;

/** Answers the pids that live on after all. */
export async function endFamily(
	family: Family,
	{ signal = "SIGTERM", graceMs = GRACE_MS }: KillOptions = {},
): Promise<number[]> {
	const hunt = new Hunt(family);
	hunt.signal(signal as NodeJS.Signals);
	// One that is stopped would hear of it only when it goes on.
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
		// The group at once: one by one, a member could start another behind our back. And to each of them once.
		const told = leader && signalGroup(leader, signal) ? leader.pid : null;
		for (const member of members) if (member.group !== told) signalOne(member, signal);
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
