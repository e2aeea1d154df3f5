// One question and its answer. The server decides: the view changes only after the server has answered.

import { useMutation } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useCallback, useId, useState } from "react";
import { ApiError, queryClient } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/confirmations.ts";
import { Badge, Button, ErrorLine, Input, PlainText, Select } from "../../ui/index.ts";
import { Arguments } from "./arguments.tsx";
import { Countdown } from "./countdown.tsx";
import { Origin } from "./origin.tsx";
import { type Confirmation, type Decision, decide, type GrantScope, useClockAhead } from "./wire.ts";
import { outcome, SCOPES, STATUSES, useWho } from "./words.ts";

export function Question({
	confirmation,
	inChat = false,
}: {
	readonly confirmation: Confirmation;
	/** Shown in the conversation that asks, inside an element that takes the focus itself. */
	readonly inChat?: boolean;
}) {
	const { id, action, description, details, status } = confirmation;
	const title = useId();
	const isOpen = status === "pending";
	return (
		<article
			{...(!inChat && { id: `question-${id}`, tabIndex: 0 })}
			aria-labelledby={title}
			data-question={id}
			data-open={isOpen || undefined}
			className={classes(
				"scroll-my-4 rounded-md border bg-raised focus-within:border-line-strong",
				inChat && "border-warn/60",
				!isOpen && "opacity-90",
			)}
		>
			<header className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 pt-3">
				<h2 id={title} className="min-w-0 flex-1 font-mono text-base font-semibold wrap-anywhere">
					<PlainText text={action} />
				</h2>
				{isOpen ? <Deadline confirmation={confirmation} /> : <StatusBadge confirmation={confirmation} />}
			</header>
			<div className="flex flex-col gap-2.5 px-4 pt-1 pb-3">
				{!inChat && <Origin confirmation={confirmation} />}
				<p className="max-w-prose text-ink wrap-anywhere">
					<span className="text-ink-3">
						{isOwn(confirmation) ? texts.question.why : texts.question.itSays}
					</span>
					<PlainText text={description} />
				</p>
				<Arguments details={details} />
			</div>
			{isOpen ? <Answer confirmation={confirmation} /> : <Outcome confirmation={confirmation} />}
		</article>
	);
}

/** Keryx itself gives the reason for its agent's calls. A reason from anyone else is only a claim. */
function isOwn({ asked_by }: Confirmation): boolean {
	return asked_by.startsWith("agent:");
}

export function StatusBadge({ confirmation }: { readonly confirmation: Confirmation }) {
	const { name, tone } = STATUSES[confirmation.status];
	return <Badge tone={tone}>{name}</Badge>;
}

function Deadline({ confirmation: { expires_at } }: { readonly confirmation: Confirmation }) {
	const ahead = useClockAhead();
	const readAgain = useCallback(() => void queryClient.invalidateQueries({ queryKey: ["confirm"] }), []);
	return <Countdown until={expires_at * 1000} ahead={ahead} onOver={readAgain} />;
}

export function Outcome({ confirmation }: { readonly confirmation: Confirmation }) {
	const { reason, resolved_label, details_before } = confirmation;
	const whoOf = useWho();
	return (
		<footer role="status" className="border-t px-4 py-2.5 text-ink-2">
			{outcome(confirmation, whoOf)}
			{reason !== null && (
				<span className="wrap-anywhere">
					{" "}
					<PlainText text={`“${reason}”`} />
				</span>
			)}
			{resolved_label !== null && (
				<span className="text-ink-3">{texts.question.notVerified(resolved_label)}</span>
			)}
			{details_before !== null && <span>{texts.question.theArgumentsWereChangedOn}</span>}
		</footer>
	);
}

type Scope = GrantScope | "once";

function Answer({ confirmation }: { readonly confirmation: Confirmation }) {
	const { id, action, session_key, conversation } = confirmation;
	const [reason, setReason] = useState("");
	const [scope, setScope] = useState<Scope>("once");
	const decision = useMutation({
		mutationFn: (made: Decision) => decide(made),
		// Reads the question's current state in any case. A refusal's message stays.
		onSettled: () => queryClient.invalidateQueries({ queryKey: ["confirm"] }),
	});
	const scopes: readonly Scope[] = [
		"once",
		...(conversation !== null ? (["session"] as const) : []),
		...(session_key !== "" ? (["conversation"] as const) : []),
		"always",
	];
	const send = (verb: Decision["verb"]) => {
		// The focused button disappears; the question keeps its place for keyboard users.
		document.getElementById(`question-${id}`)?.focus({ preventScroll: true });
		decision.mutate({ id, verb, reason, scope: scope === "once" ? null : scope });
	};
	return (
		<footer className="flex flex-wrap items-center gap-2 border-t bg-panel/60 px-4 py-2.5">
			<div className="min-w-40 flex-1">
				<Input
					aria-label={texts.question.reasonForYourDecisionOn(action)}
					placeholder={texts.question.reasonOptional}
					maxLength={10_000}
					value={reason}
					onChange={(event) => setReason(event.target.value)}
				/>
			</div>
			<div className="max-sm:flex-1">
				<Select
					aria-label={texts.question.howLongTheApprovalLasts}
					value={scope}
					onChange={(event) => setScope(event.target.value as Scope)}
				>
					{scopes.map((one) => (
						<option key={one} value={one}>
							{one === "once" ? texts.question.once : SCOPES[one]}
						</option>
					))}
				</Select>
			</div>
			<div className="ml-auto flex gap-2 max-sm:w-full max-sm:*:flex-1">
				<Button
					look="danger"
					data-answer="deny"
					icon={<X size={15} />}
					disabled={decision.isPending}
					onClick={() => send("deny")}
				>
					{texts.question.deny}
				</Button>
				<Button
					look="primary"
					data-answer="approve"
					icon={<Check size={15} />}
					disabled={decision.isPending}
					onClick={() => send("approve")}
				>
					{scope === "once" ? texts.question.approve : texts.question.approve2(SCOPES[scope])}
				</Button>
			</div>
			{decision.isError && (
				<div className="w-full">
					<ErrorLine error={refusal(decision.error, action)} />
				</div>
			)}
		</footer>
	);
}

/** Flat errors have no hint. Adds one if a grant was refused. */
function refusal(error: Error, action: string): Error {
	if (!(error instanceof ApiError) || error.status !== 400 || !/\bgrant/.test(error.message)) return error;
	return new ApiError(
		{ code: error.code, message: error.message, hint: texts.question.chooseOnceToApprove(action) },
		error.status,
	);
}
