// One box to reach everything: views, conversations, commands, settings.

import { useNavigate, useParams } from "@tanstack/react-router";
import { Command, MessageSquarePlus, Search, Settings2 } from "lucide-react";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { api, useApi, useMe } from "../api/index.ts";
import { classes } from "../lib/classes.ts";
import { withoutMarks } from "../lib/without-marks.ts";
import { texts } from "../texts/app.ts";
import { Dialog, ErrorLine, Input, PlatformIcon } from "../ui/index.ts";
import { send, useConversationList } from "../views/conversations/index.tsx";
import { useNavigation } from "./navigation.ts";
import { type Action, actionsOn, settingsTabs, THEME_ACTIONS } from "./palette-actions.tsx";

interface Entry {
	readonly id: string;
	readonly name: string;
	readonly about: string;
	readonly icon: ReactNode;
	readonly run: () => void;
}

const MOST_OF_KIND = 8;

export function Palette({ onClose }: { readonly onClose: () => void }) {
	const [words, setWords] = useState("");
	const [at, setAt] = useState(0);
	const [error, setError] = useState<unknown>(null);
	const list = useRef<HTMLDivElement>(null);
	const listId = useId();
	// Not deferred: Enter must run an entry for the words that are there.
	const wanted = words.trim();
	const entries = useEntries(wanted, onClose, setError);
	const active = Math.min(at, entries.length - 1);
	const move = (by: number) => {
		const next = (active + by + entries.length) % Math.max(1, entries.length);
		setAt(next);
		list.current?.children[next]?.scrollIntoView({ block: "nearest" });
	};
	return (
		<Dialog open onOpenChange={onClose} title={texts.palette.goAnywhere}>
			<Input
				autoFocus
				role="combobox"
				aria-label={texts.palette.searchFor}
				aria-expanded
				aria-controls={listId}
				aria-activedescendant={entries[active] ? `${listId}-${active}` : undefined}
				placeholder={texts.palette.viewConversationCommandOrSetting}
				value={words}
				onChange={({ target }) => {
					setWords(target.value);
					setAt(0);
				}}
				onKeyDown={(event) => {
					if (event.key === "ArrowDown") move(1);
					else if (event.key === "ArrowUp") move(-1);
					else if (event.key === "Enter" && !event.nativeEvent.isComposing) entries[active]?.run();
					else return;
					event.preventDefault();
				}}
			/>
			{error !== null && <ErrorLine error={error} />}
			<div ref={list} id={listId} role="listbox" aria-label={texts.palette.results} className="-mx-2 mt-2">
				{entries.map(({ id, name, about, icon, run }, index) => (
					<div
						key={id}
						id={`${listId}-${index}`}
						role="option"
						tabIndex={-1}
						aria-selected={index === active}
						onPointerMove={() => setAt(index)}
						onClick={run}
						onKeyDown={(event) => event.key === "Enter" && run()}
						className={classes(
							"flex cursor-default items-center gap-2.5 rounded-sm px-2 py-1.5",
							index === active && "bg-selected",
						)}
					>
						<span className="shrink-0 text-ink-3">{icon}</span>
						<span className="min-w-0 shrink-0 max-w-[60%] truncate">{name}</span>
						<span className="min-w-0 flex-1 truncate text-right text-sm text-ink-3">{about}</span>
					</div>
				))}
			</div>
		</Dialog>
	);
}

function useEntries(
	wanted: string,
	onClose: () => void,
	onError: (error: unknown) => void,
): readonly Entry[] {
	const navigate = useNavigate();
	const { conversation: open } = useParams({ strict: false });
	const { data: recent } = useConversationList();
	const { data: commands } = useApi("commands", {});
	const { isPerson } = useMe();
	const items = useNavigation();
	const { data: here } = useApi(
		"conversation",
		{ conversation: open ?? "" },
		{ on: ["conversation"], enabled: open !== undefined && open !== "new" },
	);
	const { data: config } = useApi("config", {}, { on: ["config"], enabled: !isPerson });
	return useMemo(() => {
		const does = (what: () => unknown) => () => {
			onClose();
			what();
		};
		/** On an error, the palette stays open and shows it. */
		const acting = ({ act, ...entry }: Action): Entry => ({
			...entry,
			run: () => void act().then(onClose, onError),
		});
		const conversations = recent?.pages.flatMap((page) => page.conversations) ?? [];
		const kinds: Entry[][] = [
			[
				{
					id: "new",
					name: texts.palette.newChat,
					about: texts.palette.aSeparateEmptyConversation,
					icon: <MessageSquarePlus size={16} />,
					run: does(() => navigate({ to: "/c/$conversation", params: { conversation: "new" } })),
				},
				...items.map(({ to, name, icon: Icon }) => ({
					id: to,
					name,
					about: "view",
					icon: <Icon size={16} />,
					run: does(() => navigate({ to })),
				})),
			],
			conversations.map(({ id, name, preview, platform }) => ({
				id,
				name,
				about: withoutMarks(preview),
				icon: <PlatformIcon platform={platform} />,
				run: does(() => navigate({ to: "/c/$conversation", params: { conversation: id } })),
			})),
			[
				...(here ? actionsOn(here) : []),
				...(isPerson ? [] : settingsTabs((tab) => navigate({ to: "/settings", search: { tab } }))),
				...THEME_ACTIONS,
			].map(acting),
			// Commands that need an argument are left out: they are typed into the chat.
			(open === undefined || open === "new" ? [] : (commands?.commands ?? []))
				.filter(({ usage }) => !usage.includes("<"))
				.map(({ name, about }) => ({
					id: `/${name}`,
					name: `/${name}`,
					about: texts.palette.inTheOpenConversation(about),
					icon: <Command size={16} />,
					run: does(() => void say(open as string, `/${name}`)),
				})),
			(config?.entries ?? []).map(({ key, value }) => ({
				id: texts.palette.setting(key),
				name: key,
				about: texts.palette.settingWith(JSON.stringify(value)),
				icon: <Settings2 size={16} />,
				run: does(() => navigate({ to: "/settings", search: { tab: "configuration", q: key } })),
			})),
		];
		if (wanted === "") return [...(kinds[0] ?? []), ...(kinds[1] ?? []).slice(0, MOST_OF_KIND)];
		const parts = wanted.toLowerCase().split(/\s+/);
		const fits = ({ name, about }: Entry) => {
			const text = `${name} ${about}`.toLowerCase();
			return parts.every((part) => text.includes(part));
		};
		return [
			...kinds.flatMap((kind) => kind.filter(fits).slice(0, MOST_OF_KIND)),
			{
				id: "search",
				name: texts.palette.searchAllMessagesFor(wanted),
				about: "",
				icon: <Search size={16} />,
				run: does(() => navigate({ to: "/search", search: { q: wanted } })),
			},
		];
	}, [wanted, recent, commands, config, open, here, isPerson, navigate, onClose, onError, items]);
}

async function say(id: string, text: string): Promise<void> {
	const conversation = await api.conversation({ conversation: id });
	await send({ kind: "conversation", conversation }, text, 0);
}
