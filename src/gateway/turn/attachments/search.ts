// Finds the attachment a provider refuses, if it does not say which: asks again without some of them. Only the known cause is left out of
// later requests; the others come back. Pure.
import type { AgentFailure } from "../../../agents/index.ts";
import type { Message } from "../../../domain/index.ts";

/** How often a step is repeated at most; the last time without any attachment. */
export const MOST_EXTRA_CALLS = 7;
/** How many of the newest are tried one by one. */
const ONE_BY_ONE = 3;

type Digests = readonly string[];

export class AttachmentSearch {
	/** Named by the provider. */
	#named: Digests = [];
	/** Also left out, without success. */
	#inVain: Digests[] = [];
	#plan: Digests[] | null = null;
	#tried: Digests = [];
	#calls = 0;

	/** What the next request leaves out. */
	get without(): ReadonlySet<string> {
		return new Set([...this.#named, ...this.#tried]);
	}

	/** The request was refused. False if nothing more can be left out: then the failure stands. */
	refused({ kind, attachments = [], suspects = [] }: AgentFailure): boolean {
		if (this.#calls >= MOST_EXTRA_CALLS) return false;
		const named = attachments.filter((digest) => !this.without.has(digest));
		const held = newestFirst(suspects.map(({ digest }) => digest));
		if (named.length === 0 && held.length === 0) return false;
		if (this.#calls === MOST_EXTRA_CALLS - 1 && held.length > 0) {
			this.#plan = [[...this.#tried, ...held]];
		} else if (named.length > 0) {
			this.#named = [...new Set([...this.#named, ...named])];
			this.#inVain = [];
			this.#plan = null;
			this.#tried = [];
			this.#calls++;
			return true;
		}
		this.#inVain.push(this.#tried);
		this.#plan ??= kind === "provider_down" ? shortPlan(held) : wholePlan(held);
		const next = this.#plan.shift();
		if (!next) return false;
		this.#tried = next;
		this.#calls++;
		return true;
	}

	/** The request was answered: returns what it must have been refused for. */
	culprits(): Digests {
		const tried = this.#tried;
		const certain = tried.filter((digest) => this.#wasInVain(tried.filter((other) => other !== digest)));
		return [...this.#named, ...(certain.length > 0 ? certain : this.#sinceInVain())];
	}

	#wasInVain(set: Digests): boolean {
		return this.#inVain.some(
			(one) => one.length === set.length && one.every((digest) => set.includes(digest)),
		);
	}

	/** Also left out in the last attempt. More attempts would be needed to find the cause. */
	#sinceInVain(): Digests {
		const before = this.#inVain
			.filter((one) => one.every((digest) => this.#tried.includes(digest)))
			.reduce<Digests>((longest, one) => (one.length > longest.length ? one : longest), []);
		return this.#tried.filter((digest) => !before.includes(digest));
	}
}

/** Whether something was attached since the model last answered. Older attachments were accepted before. */
export function holdsNew({ suspects = [] }: AgentFailure, rows: readonly Message[]): boolean {
	const since = rows.slice(rows.findLastIndex(({ role }) => role === "assistant") + 1);
	const attached = since.flatMap(({ content }) => (typeof content === "string" ? [] : content));
	return suspects.some(({ digest }) => attached.some((part) => part.type !== "text" && part.blob === digest));
}

/** The newest one by one, then several together, then all. */
function wholePlan(held: Digests): Digests[] {
	const newest = held.slice(0, ONE_BY_ONE);
	const together = newest.slice(1).map((_, n) => newest.slice(0, n + 2));
	return [...newest.map((digest) => [digest]), ...together, ...(held.length > ONE_BY_ONE ? [held] : [])];
}

/** An error without a reason is probably the provider's own: try without the newest, then without all. */
function shortPlan(held: Digests): Digests[] {
	return held.length < 2 ? held.map((digest) => [digest]) : [held.slice(0, 1), held];
}

function newestFirst(digests: Digests): Digests {
	return [...new Set(digests.toReversed())];
}
