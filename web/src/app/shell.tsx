// The frame around every view: the navigation rail, or a bar on phones, and the navigation keys.

import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Command, Ellipsis, Keyboard, Search } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useApi } from "../api/index.ts";
import { classes } from "../lib/classes.ts";
import { texts } from "../texts/app.ts";
import { IconButton, Menu, MenuChoice, MenuItem, MenuSeparator } from "../ui/index.ts";
import { useConversationList, useUnreadCount } from "../views/conversations/index.tsx";
import { ConnectionBanner, ConnectionState } from "./connection-state.tsx";
import { Mark } from "./mark.tsx";
import { type NavigationItem, useNavigation } from "./navigation.ts";
import { useShortcut } from "./shortcuts.ts";
import { setTheme, useTheme } from "./theme.ts";
import { THEMES, ThemeMenu } from "./theme-menu.tsx";

const Palette = lazy(() => import("./palette.tsx").then((m) => ({ default: m.Palette })));
const ShortcutSheet = lazy(() => import("./shortcut-sheet.tsx").then((m) => ({ default: m.ShortcutSheet })));

/** The views in a phone's bar; the others are behind a button. */
const ON_PHONE: ReadonlySet<string> = new Set(["/", "/confirmations", "/processes", "/search"]);

export function Shell() {
	const [sheet, setSheet] = useState(false);
	const [palette, setPalette] = useState(false);
	const waiting = useWaiting();
	const items = useNavigation();
	useNews(waiting);
	usePaletteKey(() => setPalette(true));
	useShortcut("Ctrl k", texts.shell.goAnywhereViewsConversationsCommands, () => setPalette(true));
	useShortcut("?", texts.shell.showTheseShortcuts, () => setSheet(true));
	return (
		<div className="flex h-full flex-col md:flex-row">
			<a
				href="#main"
				className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-sm focus:bg-accent focus:px-3 focus:py-1.5 focus:text-on-accent"
			>
				{texts.shell.skipToContent}
			</a>
			{items.map((item) => (
				<ViewKeys key={item.to} item={item} />
			))}
			<SearchKey />
			<nav
				aria-label={texts.shell.main}
				className="hidden w-24 shrink-0 flex-col gap-0.5 overflow-y-auto border-r bg-panel p-2 md:flex lg:w-46 lg:px-3"
			>
				<Link
					to="/"
					className="mb-3 flex h-9 items-center justify-center gap-2 rounded-sm text-accent lg:justify-start lg:px-2"
				>
					<Mark />
					<span className="text-lg font-semibold tracking-[-0.015em] text-ink max-lg:sr-only">
						{texts.shell.keryx}
					</span>
				</Link>
				{items.map((item) => (
					<RailLink key={item.to} item={item} count={item.to === "/confirmations" ? waiting : 0} />
				))}
				<div className="mt-auto flex flex-col gap-1 pt-4 max-lg:items-center">
					<ConnectionState />
					<div className="flex gap-1">
						<IconButton
							label={texts.shell.goAnywhere}
							keys="Ctrl K"
							size="sm"
							onClick={() => setPalette(true)}
						>
							<Command size={16} />
						</IconButton>
						<ThemeMenu />
						<IconButton
							label={texts.shell.keyboardShortcuts}
							keys="?"
							size="sm"
							onClick={() => setSheet(true)}
						>
							<Keyboard size={16} />
						</IconButton>
					</div>
				</div>
			</nav>
			<div className="flex min-h-0 min-w-0 flex-1 flex-col">
				<ConnectionBanner />
				<main id="main" tabIndex={-1} className="min-h-0 min-w-0 flex-1">
					<Outlet />
				</main>
			</div>
			<PhoneBar waiting={waiting} onPalette={() => setPalette(true)} />
			<Suspense>{sheet && <ShortcutSheet onClose={() => setSheet(false)} />}</Suspense>
			<Suspense>{palette && <Palette onClose={() => setPalette(false)} />}</Suspense>
		</div>
	);
}

/** How many confirmations wait for a human. */
function useWaiting(): number {
	const { data } = useApi("health", {}, { on: ["confirmation"] });
	return data?.pending_count ?? 0;
}

/** Waiting and unread counts in the tab's title and icon. */
function useNews(waiting: number): void {
	const { data } = useConversationList();
	const conversations = useMemo(() => data?.pages.flatMap((page) => page.conversations) ?? [], [data]);
	const news = waiting + useUnreadCount(conversations);
	useEffect(() => {
		document.title = news > 0 ? texts.shell.keryx2(news) : texts.shell.keryx;
		const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
		if (icon) icon.href = news > 0 ? "/favicon-news.svg" : "/favicon.svg";
	}, [news]);
}

/** The palette key also works inside a field, but not in a terminal, where Ctrl-K belongs to the shell. */
function usePaletteKey(open: () => void): void {
	const latest = useRef(open);
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			if (
				event.key.toLowerCase() !== "k" ||
				!(event.ctrlKey || event.metaKey) ||
				event.altKey ||
				event.shiftKey
			)
				return;
			if (event.target instanceof Element && event.target.closest(".xterm, [role=dialog]")) return;
			event.preventDefault();
			latest.current();
		};
		document.addEventListener("keydown", press);
		return () => document.removeEventListener("keydown", press);
	}, []);
}

function ViewKeys({ item }: { readonly item: NavigationItem }) {
	const navigate = useNavigate();
	useShortcut(item.keys, texts.shell.goTo(item.name), () => void navigate({ to: item.to }));
	return null;
}

function SearchKey() {
	const navigate = useNavigate();
	useShortcut("/", texts.shell.searchEverything, () => void navigate({ to: "/search" }));
	return null;
}

function RailLink({ item, count }: { readonly item: NavigationItem; readonly count: number }) {
	const { icon: Icon, name, to } = item;
	const active = useIsAt(to);
	return (
		<Link
			to={to}
			{...(active && { "data-active": "", "aria-current": "page" })}
			className="relative flex flex-col items-center gap-0.5 rounded-sm px-1 py-1.5 text-2xs text-ink-2 hover:bg-hover hover:text-ink data-active:bg-selected data-active:font-medium data-active:text-ink lg:h-8 lg:flex-row lg:gap-2.5 lg:px-2 lg:py-0 lg:text-base [&[data-active]_svg]:text-accent"
		>
			<Icon size={17} strokeWidth={1.75} aria-hidden className="shrink-0" />
			{name}
			<Count count={count} className="max-lg:absolute max-lg:top-0.5 max-lg:right-4 lg:ml-auto" />
		</Link>
	);
}

/** An open conversation counts as the Conversations view. */
function useIsAt(to: NavigationItem["to"]): boolean {
	return useRouterState({
		select: ({ location: { pathname } }) =>
			to === "/" ? pathname === "/" || pathname.startsWith("/c/") : pathname.startsWith(to),
	});
}

function Count({ count, className }: { readonly count: number; readonly className?: string }) {
	if (count === 0) return null;
	return (
		<span
			className={classes(
				"inline-flex h-4 min-w-4 items-center justify-center rounded-full bg-accent px-1 text-2xs font-semibold text-on-accent tabular-nums",
				className,
			)}
		>
			{count}
			<span className="sr-only">{texts.shell.waiting}</span>
		</span>
	);
}

function PhoneBar({ waiting, onPalette }: { readonly waiting: number; readonly onPalette: () => void }) {
	const navigate = useNavigate();
	const theme = useTheme();
	const items = useNavigation();
	return (
		<nav
			aria-label={texts.shell.main}
			className="flex shrink-0 items-stretch border-t bg-panel pb-[env(safe-area-inset-bottom)] md:hidden"
		>
			{items
				.filter(({ to }) => ON_PHONE.has(to))
				.map((item) => (
					<BarLink key={item.to} item={item} count={item.to === "/confirmations" ? waiting : 0} />
				))}
			<Menu
				label={texts.shell.more}
				trigger={
					<button
						type="button"
						className="flex h-13 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-2xs text-ink-2"
					>
						<Ellipsis size={19} strokeWidth={1.75} aria-hidden />
						<span className="text-[10px] tracking-tight">{texts.shell.more}</span>
					</button>
				}
			>
				{items
					.filter(({ to }) => !ON_PHONE.has(to))
					.map(({ to, name, icon: Icon }) => (
						<MenuItem key={to} icon={<Icon size={16} />} onSelect={() => void navigate({ to })}>
							{name}
						</MenuItem>
					))}
				<MenuItem icon={<Search size={16} />} onSelect={onPalette}>
					{texts.shell.goAnywhere}
				</MenuItem>
				<MenuSeparator />
				<MenuChoice value={theme} choices={THEMES} onChange={setTheme} />
			</Menu>
		</nav>
	);
}

function BarLink({ item, count }: { readonly item: NavigationItem; readonly count: number }) {
	const { icon: Icon, name, to } = item;
	const active = useIsAt(to);
	return (
		<Link
			to={to}
			{...(active && { "data-active": "", "aria-current": "page" })}
			className="relative flex h-13 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-2xs text-ink-2 data-active:text-accent"
		>
			<Icon size={19} strokeWidth={1.75} aria-hidden />
			<span className="max-w-full truncate text-[10px] tracking-tight">{name}</span>
			<Count count={count} className="absolute top-1 left-[55%]" />
		</Link>
	);
}
