// The first run: three steps, each skippable. The server knows which are done, so that closing the page loses nothing.

import { useMutation } from "@tanstack/react-query";
import { Check, Minus } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api, apiKey, queryClient, useApi } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/first-run.ts";
import { Button, ErrorLine, SkeletonRows } from "../../ui/index.ts";
import { useChannelForm } from "../channels/add.tsx";
import { Pairings } from "../channels/pairings.tsx";
import { ModelForm } from "../settings/model-tab.tsx";

type Step = Answer<"setup">["steps"][number];

const TITLES: Readonly<Record<Step["name"], { readonly title: string; readonly about: string }>> = {
	model: {
		title: texts.view.connectAModel,
		about: texts.view.chooseAProviderPasteIts,
	},
	chat: {
		title: texts.view.addAChat,
		about: texts.view.talkToYourAgentIn,
	},
	you: { title: texts.view.sayHello, about: texts.view.yourFirstMessageStartsA },
};

export function FirstRunSteps({ onHello }: { readonly onHello: () => void }) {
	const { data } = useApi("setup", {}, { on: ["config", "pairing", "session"] });
	const [chosen, setChosen] = useState<Step["name"] | null>(null);
	const skip = useMutation({
		mutationFn: (step: Step["name"] | "all") => api.skipSetup({ step }),
		onSuccess: (now) => {
			queryClient.setQueryData(apiKey("setup", {}), now);
			setChosen(null);
		},
	});
	const steps = data?.steps ?? [];
	const open = steps.find(({ name, state }) => name === chosen && state !== "done") ?? nextOf(steps);
	const isChatDone = steps.some(({ name, state }) => name === "chat" && state === "done");
	const skipButton = (step: Step["name"]) => (
		<Button look="quiet" disabled={skip.isPending} onClick={() => skip.mutate(step)}>
			{texts.view.skipThisStep}
		</Button>
	);
	return (
		<div className="h-full overflow-y-auto">
			<div className="mx-auto flex max-w-xl flex-col gap-6 px-5 py-10 md:py-14">
				<div>
					<h1 className="text-xl font-semibold tracking-[-0.015em]">{texts.view.welcomeToKeryx}</h1>
					<p className="mt-1 text-ink-2">{texts.view.threeStepsToGetStarted}</p>
				</div>
				<ol className="flex flex-col border-t">
					{steps.map((step, index) => (
						<StepItem
							key={step.name}
							step={step}
							number={index + 1}
							isOpen={step.name === open?.name}
							onOpen={() => setChosen(step.name)}
						>
							{step.name === "model" && <ModelStep skip={skipButton("model")} />}
							{step.name === "chat" && <ChatStep skip={skipButton("chat")} />}
							{step.name === "you" && (
								<YouStep hasChat={isChatDone} onHello={onHello} skip={skipButton("you")} />
							)}
						</StepItem>
					))}
				</ol>
				{skip.isError && <ErrorLine error={skip.error} />}
				<p className="text-sm text-ink-3">
					<button
						type="button"
						className="rounded-xs text-ink-2 underline underline-offset-2 hover:text-ink"
						onClick={() => skip.mutate("all")}
					>
						{texts.view.skipAllOfThis}
					</button>{" "}
					{texts.view.youCanDoAllOf}
				</p>
			</div>
		</div>
	);
}

function nextOf(steps: readonly Step[]): Step | undefined {
	return steps.find(({ state }) => state === "open");
}

function StepItem({
	step: { name, state },
	number,
	isOpen,
	onOpen,
	children,
}: {
	readonly step: Step;
	readonly number: number;
	readonly isOpen: boolean;
	readonly onOpen: () => void;
	readonly children: ReactNode;
}) {
	const { title, about } = TITLES[name];
	return (
		<li className="flex gap-3.5 border-b py-4" aria-current={isOpen ? "step" : undefined}>
			<span
				aria-hidden
				className={classes(
					"mt-px flex size-6 shrink-0 items-center justify-center rounded-full border text-sm tabular-nums",
					state === "done" && "border-transparent bg-ok-soft text-ok",
					isOpen && "border-accent text-accent",
					state !== "done" && !isOpen && "text-ink-3",
				)}
			>
				{state === "done" ? (
					<Check size={14} />
				) : state === "skipped" && !isOpen ? (
					<Minus size={14} />
				) : (
					number
				)}
			</span>
			<div className="min-w-0 flex-1">
				<div className="flex flex-wrap items-baseline gap-x-3">
					<h2 className="font-semibold">{title}</h2>
					{state === "done" && <span className="text-sm text-ok">{texts.view.done}</span>}
					{state === "skipped" && !isOpen && <span className="text-sm text-ink-3">{texts.view.skipped}</span>}
					{state !== "done" && !isOpen && (
						<button
							type="button"
							aria-label={texts.view.doThisNow(title)}
							className="rounded-xs text-sm text-accent underline-offset-2 hover:underline"
							onClick={onOpen}
						>
							{texts.view.doThisNow2}
						</button>
					)}
				</div>
				{isOpen && (
					<>
						<p className="mb-4 text-ink-2">{about}</p>
						{children}
					</>
				)}
			</div>
		</li>
	);
}

function ModelStep({ skip }: { readonly skip: ReactNode }) {
	const { data } = useApi("model", {}, { on: ["config"] });
	return data ? <ModelForm current={data} extraButton={skip} /> : <SkeletonRows rows={2} />;
}

function ChatStep({ skip }: { readonly skip: ReactNode }) {
	const { fields, form, isComplete, isPending, added } = useChannelForm();
	return (
		<div className="flex max-w-120 flex-col gap-4">
			{fields}
			<div className="flex flex-wrap items-center gap-3">
				<Button look="primary" type="submit" form={form} disabled={isPending || !isComplete}>
					{isPending ? texts.view.checkingTheToken : texts.view.connect}
				</Button>
				{skip}
				{added && (
					<p role="status" className="text-ink-2">
						{texts.view.isConnected(added.who)}
					</p>
				)}
			</div>
		</div>
	);
}

function YouStep({
	hasChat,
	onHello,
	skip,
}: {
	readonly hasChat: boolean;
	readonly onHello: () => void;
	readonly skip: ReactNode;
}) {
	return (
		<div className="flex flex-col gap-4">
			{hasChat && (
				<>
					<p>{texts.view.sendYourBotAnyMessage}</p>
					<Pairings />
				</>
			)}
			<div className="flex flex-wrap items-center gap-3">
				<Button look={hasChat ? "plain" : "primary"} onClick={onHello}>
					{texts.view.sayHelloOnThisPage}
				</Button>
				{skip}
			</div>
		</div>
	);
}
