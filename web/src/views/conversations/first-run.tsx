// What one sees before the first message: what Keryx is for, by trying it.
import { Link } from "@tanstack/react-router";
import { ArrowRight, MessageSquareText, Ruler, ShieldQuestionMark } from "lucide-react";
import type { ReactNode } from "react";
import { useApi } from "../../api/index.ts";
import { Button } from "../../ui/index.ts";

interface Trial {
	readonly icon: ReactNode;
	readonly title: string;
	readonly about: string;
	/** Sent one after the other. */
	readonly texts: readonly string[];
}

const TRIALS: readonly Trial[] = [
	{
		icon: <MessageSquareText size={18} strokeWidth={1.75} />,
		title: "Talk to the agent",
		about:
			"Every message is stored before it is answered. Close the page, stop Keryx: the conversation goes on.",
		texts: ["hello"],
	},
	{
		icon: <Ruler size={18} strokeWidth={1.75} />,
		title: "See a session’s limit",
		about:
			"Long sessions go wrong, so one ends at session_reset.max_messages and the next begins with what matters. The gauge above the chat counts; /status says it in words.",
		texts: ["hello", "/status"],
	},
	{
		icon: <ShieldQuestionMark size={18} strokeWidth={1.75} />,
		title: "Be asked first",
		about:
			"The agent asks before it does harm. This deletes a folder that does not exist; deny it or approve it in the chat.",
		texts: ["run rm -rf ./keryx-example"],
	},
];

export function FirstRun({ onTry }: { readonly onTry: (texts: readonly string[]) => void }) {
	const { data: health } = useApi("health", {}, { on: ["confirmation"] });
	return (
		<div className="h-full overflow-y-auto">
			<div className="mx-auto flex max-w-xl flex-col gap-6 px-5 py-10 md:py-16">
				<div>
					<h1 className="text-xl font-semibold tracking-[-0.015em]">Keryx is running</h1>
					<p className="mt-1 text-ink-2">Nobody has written yet. Three things to try:</p>
				</div>
				<ul className="flex flex-col border-t">
					{TRIALS.map(({ icon, title, about, texts }) => (
						<li key={title} className="flex gap-4 border-b py-4">
							<span aria-hidden className="mt-0.5 text-accent">
								{icon}
							</span>
							<div className="min-w-0 flex-1">
								<h2 className="font-semibold">{title}</h2>
								<p className="mb-2.5 text-ink-2">{about}</p>
								<Button size="sm" icon={<ArrowRight size={14} />} onClick={() => onTry(texts)}>
									Send {texts.map((text) => `“${text}”`).join(", then ")}
								</Button>
							</div>
						</li>
					))}
				</ul>
				<section aria-label="Connect a model">
					<h2 className="font-semibold">Connect a model</h2>
					<p className="mb-2 text-ink-2">
						{health?.agent === "offline" ? "Fixed sentences answer now. " : ""}Choose a provider, paste its
						key and pick a model. No restart is needed.
					</p>
					<Link to="/settings" search={{ tab: "model" }} className="text-accent underline">
						Connect a model
					</Link>
				</section>
			</div>
		</div>
	);
}
