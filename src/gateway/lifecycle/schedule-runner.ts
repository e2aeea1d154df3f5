// Runs due jobs: asks the store by index, so that the cost does not depend on the number of jobs, and leaves every decision to it. A run
// has two results, its own and its delivery's; a failure is reported once, under the run's id.
import type { Config } from "../../config/index.ts";
import { SCHEDULE_PLATFORM, type Target } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	type Conversation,
	type Destination,
	isOnItsWay,
	isPassing,
	type Job,
	type JobTarget,
	OPERATOR,
	type RunWork,
	runId,
	type Store,
	type Woken,
} from "../../store/index.ts";
import { type Clock, Rounds } from "../../time/index.ts";
import type { Sending } from "../sending/types.ts";
import {
	jobFailedSentence,
	jobPausedSentence,
	jobRefusedSentence,
	jobUndeliveredSentence,
} from "../sentences.ts";
import { type Rights, reach, rightsOf } from "../turn/rights.ts";

/** How many missed instants are recorded at a time. */
const MOST_MISSED = 500;
const PAGE = 200;
/** How soon after a commit running runs are checked. */
const SOON_MS = 50;
/** How long a job or run is left alone after an unexpected failure. */
const REST_MS = 5_000;

export interface ScheduleRunnerOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Read per call: it may change. */
	readonly config: () => Config;
	readonly sending: Sending;
	readonly homes: () => readonly Destination[];
	readonly wake: (woken: Woken) => void;
	readonly log: (message: string, error: unknown) => void;
}

export class ScheduleRunner {
	readonly #options: ScheduleRunnerOptions;
	readonly #rounds: Rounds;
	#since = 0;
	/** Runs whose own end, or delivery, is not recorded yet. */
	#underWay = 0;
	/** Unexpected failures, by the id of the job or run, and until when it is left alone. Everything else continues. */
	readonly #resting = new Map<string, number>();
	#unlisten = () => {};

	constructor(options: ScheduleRunnerOptions) {
		this.#options = options;
		this.#rounds = new Rounds({
			clock: options.clock,
			round: () => this.#round(),
			failed: (error) => options.log("jobs cannot be run right now", error),
		});
	}

	start(): void {
		const { clock, store } = this.#options;
		this.#since = clock.now();
		this.#rounds.start();
		this.#unlisten = store.onCommit(() => {
			if (this.#underWay > 0) this.#rounds.expects(clock.now() + SOON_MS);
		});
	}

	async stop(): Promise<void> {
		this.#unlisten();
		await this.#rounds.stop();
	}

	/** A job was created or changed, or should run now. */
	look(): void {
		this.#rounds.look();
	}

	async #round(): Promise<number | null> {
		this.#wakeRested();
		await this.#follow();
		const { store, clock, config } = this.#options;
		while (!this.#rounds.isStopped) {
			const limit = this.#resting.size + 1;
			const { jobs, nextAt, running } = await store.dueJobs({ scope: OPERATOR, now: clock.now(), limit });
			const job = jobs.find(({ id }) => !this.#resting.has(id));
			// The instant of a resting job is always due: the end of its rest counts.
			const restedAt = this.#resting.size === 0 ? null : Math.min(...this.#resting.values());
			if (!job) return restedAt ?? nextAt;
			// The end of a run is a commit, which wakes.
			if (running >= config().schedule.max_running) return restedAt;
			await this.#apart(job.id, () => this.#fire(job));
		}
		return null;
	}

	/** One job's failure does not affect the others. Store trouble ends the round: it would affect all of them. */
	async #apart<T>(id: string, work: () => Promise<T>): Promise<T | null> {
		const { clock, log } = this.#options;
		if (this.#resting.has(id)) return null;
		try {
			return await work();
		} catch (error) {
			if (isPassing(error)) throw error;
			log(`job ${id} cannot go on right now`, error);
			this.#resting.set(id, clock.now() + REST_MS);
			return null;
		}
	}

	/** Also after the clock went back: nothing rests longer. */
	#wakeRested(): void {
		const now = this.#options.clock.now();
		for (const [id, until] of this.#resting)
			if (until <= now || until > now + REST_MS) this.#resting.delete(id);
	}

	async #fire(job: Job): Promise<void> {
		const { store, wake } = this.#options;
		const due = job.dueAt as number;
		const args = { job: job.id, due, since: this.#since, mostMissed: MOST_MISSED };
		const { standing } = await this.#rights(job);
		if (standing === "none") return this.#refuse(job, "its owner is no longer let in", "owner");
		try {
			const { run, woken } = await store.fireJob(args);
			if (run !== null) this.#underWay++;
			if (woken) wake(woken);
			// A text needs no turn: there is nothing to wait for.
			if (run !== null && !woken) await this.#follow();
		} catch (error) {
			if (isPassing(error) || !(error instanceof KeryxError)) throw error;
			await this.#refuse(job, error.message, "failures");
		}
	}

	/** Reported first: repeated after a crash, it is the same message. */
	async #refuse(job: Job, reason: string, because: "owner" | "failures"): Promise<void> {
		const due = job.dueAt as number;
		const id = `${runId({ job: job.id, at: due })}:refused`;
		const text = jobRefusedSentence(job, reason);
		if (because === "owner") await this.#tellHomes(job, id, text);
		else await this.#tell(job, id, text);
		await this.#options.store.fireJob({
			job: job.id,
			due,
			since: this.#since,
			mostMissed: MOST_MISSED,
			refused: { reason, because },
		});
	}

	/** Checks the running runs. */
	async #follow(): Promise<void> {
		const { store } = this.#options;
		let after: RunWork["run"] | undefined;
		let left = 0;
		for (;;) {
			const page: readonly RunWork[] = await store.unsettledRuns({
				scope: OPERATOR,
				limit: PAGE,
				...(after && { after }),
			});
			for (const work of page) {
				const id = runId({ job: work.job.id, at: work.run.scheduledAt });
				if (!(await this.#apart(id, () => this.#advance(work)))) left++;
			}
			after = page.at(-1)?.run;
			if (page.length < PAGE || this.#rounds.isStopped) break;
		}
		this.#underWay = left;
	}

	/** False: its end is not known yet. */
	async #advance(work: RunWork): Promise<boolean> {
		return work.run.state === "open" ? this.#end(work) : this.#settle(work);
	}

	async #end(work: RunWork): Promise<boolean> {
		const { store, config } = this.#options;
		const outcome = outcomeOf(work);
		if (!outcome) return false;
		const { job, run } = work;
		const { state, reason, text } = outcome;
		const { via, why, sentAs }: Delivering =
			text === null ? { via: "none", why: null } : await this.#deliver(work, text);
		const id = runId({ job: job.id, at: run.scheduledAt });
		const disableAfter = config().schedule.disable_after;
		if (state === "failed" || state === "expired")
			await this.#tellFailure(job, id, jobFailedSentence(job, reason));
		else if (via === "refused") await this.#tellFailure(job, id, jobUndeliveredSentence(job, why, false));
		const ended = { job: job.id, at: run.scheduledAt, state, reason, via, deliveryReason: why, disableAfter };
		await store.endRun({ ...ended, ...(sentAs && { sentAs }) });
		return !isOnItsWay(via);
	}

	/** Once: the send has the run's id. Not if the agent itself sent something there. */
	async #deliver({ job, run }: RunWork, text: string): Promise<Delivering> {
		const { store, sending } = this.#options;
		const { deliver } = job;
		if (deliver === null) return { via: job.isOwn ? "none" : "chat", why: null };
		const sentThere: string[] = [];
		if (run.turn !== null)
			for (const { id, target } of await store.sentByTurn({ scope: OPERATOR, turn: run.turn }))
				if (await sending.isSameChat(target, deliver.target)) sentThere.push(id);
		if (sentThere.length > 0) return { via: "by_agent", why: null, sentAs: sentThere };
		const rights = await this.#rights(job);
		const refusal = await this.#refusal(job, deliver, rights);
		if (refusal !== null) return { via: "refused", why: refusal };
		try {
			await sending.send({
				id: runId({ job: job.id, at: run.scheduledAt }),
				target: deliver.target,
				text,
				by: `job:${job.id}`,
				from: { where: `the job ${job.name}`, ...(job.conversation && { conversation: job.conversation }) },
			});
			return { via: "target", why: null };
		} catch (error) {
			if (isPassing(error) || !(error instanceof KeryxError)) throw error;
			if (isSentBefore(error)) return { via: "target", why: null };
			return { via: "refused", why: error.message };
		}
	}

	/** Why its owner may not send there now, or null. A target that needed no approval is used only as long as it needs none. */
	async #refusal(job: Job, { target, approved }: JobTarget, rights: Rights): Promise<string | null> {
		const verdict = await this.#options.sending.check(target, { ...rights, origin: job.origin });
		if (verdict.kind === "refused") return verdict.why;
		return verdict.needs === "nothing" || approved ? null : "sending there has to be approved now";
	}

	async #settle({ job, run }: RunWork): Promise<boolean> {
		const { store, config } = this.#options;
		if (run.delivery === "waiting") return false;
		const arrived = run.delivery ?? "nothing";
		const id = runId({ job: job.id, at: run.scheduledAt });
		if (arrived === "dead")
			await this.#tellFailure(job, id, jobUndeliveredSentence(job, run.deliveryReason, false));
		if (arrived === "unknown")
			await this.#tell(job, `${id}:failed`, jobUndeliveredSentence(job, run.deliveryReason, true));
		await store.settleRun({
			job: job.id,
			at: run.scheduledAt,
			arrived,
			disableAfter: config().schedule.disable_after,
		});
		return true;
	}

	/** Says that the job is paused, if this failure was one too many. */
	#tellFailure(job: Job, run: string, text: string): Promise<void> {
		const most = this.#options.config().schedule.disable_after;
		const paused = job.failures + 1 >= most && job.state === "active";
		return this.#tell(
			job,
			`${run}:failed`,
			paused ? `${text}\n\n${jobPausedSentence(job, job.failures + 1)}` : text,
		);
	}

	/** The failure target; or else where the job was created; or else the home channels. */
	async #tell(job: Job, id: string, text: string): Promise<void> {
		const named =
			job.failure && (await this.#refusal(job, job.failure, await this.#rights(job))) === null
				? job.failure.target
				: null;
		const target: Target | null =
			named ?? (job.origin === null ? null : { kind: "conversation", conversation: job.origin });
		if (target === null || !(await this.#sendOnce(job, id, text, target)))
			await this.#tellHomes(job, id, text);
	}

	async #tellHomes(job: Job, id: string, text: string): Promise<void> {
		for (const [n, home] of this.#options.homes().entries()) {
			const { platform, account, chatId, threadId } = home;
			const target = {
				kind: "chat",
				platform,
				account,
				chatId,
				...(threadId !== undefined && { threadId }),
			} as const;
			await this.#sendOnce(job, `${id}:${n}`, text, target);
		}
	}

	async #sendOnce(job: Job, id: string, text: string, target: Target): Promise<boolean> {
		try {
			await this.#options.sending.send({
				id,
				target,
				text,
				by: `job:${job.id}`,
				from: { where: `the job ${job.name}` },
			});
			return true;
		} catch (error) {
			if (isPassing(error) || !(error instanceof KeryxError)) throw error;
			return isSentBefore(error);
		}
	}

	/** The owner's current rights (I18). */
	#rights(job: Job): Promise<Rights> {
		const { store, config, clock } = this.#options;
		return jobRights(job, { store, config: config(), now: clock.now() });
	}
}

/** As if they wrote to the agent privately: a job's own conversation may not exist yet. */
export async function jobRights(
	{ id, owner, conversation, profile }: Job,
	{ store, config, now }: { readonly store: Store; readonly config: Config; readonly now: number },
): Promise<Rights> {
	const privateChat = {
		id: conversation ?? id,
		principal: owner.principal,
		platform: SCHEDULE_PLATFORM,
		profile,
		shared: false,
		chatType: "dm",
		source: { platform: SCHEDULE_PLATFORM, account: "", chatType: "dm", chatId: id },
	} as Conversation;
	const { standing } = await rightsOf([owner], privateChat, { store, config, now });
	if (owner.principal === null && standing === "owner") return { standing, scope: OPERATOR };
	return { standing, scope: reach(privateChat, owner.principal) };
}

/** How the result of a run is delivered. */
interface Delivering {
	readonly via: RunWork["run"]["via"];
	readonly why: string | null;
	/** The agent's own sends. */
	readonly sentAs?: readonly string[];
}

/** Sent before a crash, from the job and settings at that time. */
function isSentBefore({ code }: KeryxError): boolean {
	return code === "send.conflict";
}

interface RunOutcome {
	readonly state: "answered" | "asked" | "failed" | "expired" | "stopped";
	readonly reason: string | null;
	/** To be delivered. */
	readonly text: string | null;
}

function outcomeOf({ job, disposition, said, asks }: RunWork): RunOutcome | null {
	if (!disposition) return null;
	switch (disposition.kind) {
		case "answered":
		case "merged":
			// If a human is asked first, the question is in the chat, and the rest happens there.
			return asks
				? { state: "asked", reason: "a person was asked first", text: null }
				: { state: "answered", reason: null, text: said };
		case "command":
		case "observed":
			return { state: "answered", reason: null, text: job.task.text };
		case "stopped":
		case "dropped_by_user":
			return { state: "stopped", reason: null, text: null };
		case "expired":
			return { state: "expired", reason: disposition.reason, text: null };
		case "failed":
		case "refused":
			return { state: "failed", reason: disposition.reason, text: null };
	}
}
