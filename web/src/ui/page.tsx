// The frame of a view: its heading with actions, and its content below.
import type { ReactNode } from "react";

export function Page({
	title,
	about,
	actions,
	children,
}: {
	readonly title: string;
	readonly about?: ReactNode;
	readonly actions?: ReactNode;
	readonly children: ReactNode;
}) {
	return (
		<div className="flex h-full min-h-0 flex-col">
			<header className="flex min-h-13 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2 lg:px-6">
				<h1 className="text-lg font-semibold tracking-[-0.01em]">{title}</h1>
				{about !== undefined && <div className="min-w-0 text-sm text-ink-3 max-md:hidden">{about}</div>}
				{actions !== undefined && <div className="ml-auto flex items-center gap-2">{actions}</div>}
			</header>
			<div className="flex min-h-0 flex-1 flex-col overflow-y-auto">{children}</div>
		</div>
	);
}
