// Shown before the first message: things to try that show what Keryx is for.

import { Link } from "@tanstack/react-router";
import { ArrowRight, MessageSquareText, Ruler, ShieldQuestionMark } from "lucide-react";
import type { ReactNode } from "react";
import { useApi, useMe } from "../../api/index.ts";
import { texts } from "../../texts/conversations.ts";
import { Button, ErrorLine } from "../../ui/index.ts";

interface Trial {
	readonly icon: ReactNode;
	readonly title: string;
	readonly about: string;
	/** Messages, sent one after the other. */
	readonly sends: readonly string[];
}

const TRIALS: readonly Trial[] = [
	{
		icon: <MessageSquareText size={18} strokeWidth={1.75} />,
		title: texts.firstRun.talkToTheAgent,
		about: texts.firstRun.everyMessageIsSavedBefore,
		sends: ["hello"],
	},
	{
		icon: <Ruler size={18} strokeWidth={1.75} />,
		title: texts.firstRun.seeTheMessageLimit,
		about: texts.firstRun.inVeryLongSessionsThe,
		sends: ["hello", "/status"],
	},
	{
		icon: <ShieldQuestionMark size={18} strokeWidth={1.75} />,
		title: texts.firstRun.approveAnAction,
		about: texts.firstRun.theAgentAsksBeforeIt,
		sends: ["run rm -rf ./keryx-example"],
	},
];

export function FirstRun({
	onTry,
	hasFailed,
}: {
	readonly onTry: (sends: readonly string[]) => void;
	/** The messages could not be sent. */
	readonly hasFailed: boolean;
}) {
	const { data: health } = useApi("health", {}, { on: ["confirmation", "config"] });
	// Only the operator can open the settings.
	const { isPerson } = useMe();
	return (
		<div className="mx-auto flex max-w-xl flex-col gap-6 px-5 py-8 md:py-10">
			{hasFailed && <ErrorLine error={new Error(texts.view.itCouldNotBeSent)} />}
			<div>
				<h1 className="text-xl font-semibold tracking-[-0.015em]">{texts.firstRun.keryxIsRunning}</h1>
				<p className="mt-1 text-ink-2">{texts.firstRun.thereAreNoMessagesYet}</p>
			</div>
			<ul className="flex flex-col border-t">
				{TRIALS.map(({ icon, title, about, sends }) => (
					<li key={title} className="flex gap-4 border-b py-4">
						<span aria-hidden className="mt-0.5 text-accent">
							{icon}
						</span>
						<div className="min-w-0 flex-1">
							<h2 className="font-semibold">{title}</h2>
							<p className="mb-2.5 text-ink-2">{about}</p>
							<Button size="sm" icon={<ArrowRight size={14} />} onClick={() => onTry(sends)}>
								{texts.firstRun.send(inQuotes(sends))}
							</Button>
						</div>
					</li>
				))}
			</ul>
			{!isPerson && health?.agent === "offline" && (
				<section aria-label={texts.firstRun.connectAModel}>
					<h2 className="font-semibold">{texts.firstRun.connectAModel}</h2>
					<p className="mb-2 text-ink-2">{texts.firstRun.noModelIsConnectedSo}</p>
					<Link to="/settings" search={{ tab: "model" }} className="text-accent underline">
						{texts.firstRun.connectAModel}
					</Link>
				</section>
			)}
		</div>
	);
}

function inQuotes(sends: readonly string[]): string {
	return sends.map((text) => `“${text}”`).join(texts.firstRun.thenSend);
}
