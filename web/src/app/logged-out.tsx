import { Command } from "../ui/index.ts";
import { Mark } from "./mark.tsx";

/** Shown instead of everything once the server does not know this browser any more. */
export function LoggedOut() {
	return (
		<main className="flex h-full items-center justify-center p-6">
			<div className="flex max-w-96 flex-col gap-3">
				<span className="text-accent">
					<Mark size={32} />
				</span>
				<h1 className="text-xl font-semibold tracking-[-0.015em]">You are not logged in</h1>
				<p className="text-ink-2">
					This browser has no login, or it has ended. Run this where Keryx runs, and open the link that it
					prints here. It works once, within ten minutes, and holds for 30 days.
				</p>
				<Command text="keryx link" />
				<p className="text-ink-2">The conversations are where they were; nothing is lost.</p>
			</div>
		</main>
	);
}
