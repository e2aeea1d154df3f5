import { SlidersHorizontal, X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useApi } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/search.ts";
import { Button, Input, platformName, Select } from "../../ui/index.ts";
import type { Asked } from "./search-pages.ts";

const ROLES = [
	["user", texts.filters.messagesFromPeople],
	["assistant", texts.filters.messagesFromTheAgent],
	["tool", texts.filters.toolResults],
	["title", texts.filters.sessionTitles],
] as const;

const FILTERS = ["platform", "role", "conversation", "from", "to"] as const;

/** An empty filter is left out of the query. */
export function Filters({
	asked,
	onChange,
}: {
	readonly asked: Asked;
	readonly onChange: (next: Partial<Asked>) => void;
}) {
	const { data: found } = useApi("conversations", { limit: 50 }, { on: ["session"] });
	const conversations = found?.conversations ?? [];
	const platforms = [
		...new Set([...conversations.map(({ platform }) => platform), ...given(asked.platform)]),
	];
	const used = FILTERS.filter((name) => asked[name] !== undefined).length;
	const [open, setOpen] = useState(false);
	const panel = useId();
	return (
		<>
			<Button
				size="sm"
				look="quiet"
				className="self-start sm:hidden"
				icon={<SlidersHorizontal size={14} />}
				aria-expanded={open}
				aria-controls={panel}
				onClick={() => setOpen(!open)}
			>
				{used === 0 ? texts.filters.filters : texts.filters.filters2(used)}
			</Button>
			<div
				id={panel}
				className={classes(
					"grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-[1fr_1.3fr_1.5fr_1.1fr_1.1fr_auto] lg:items-end",
					!open && "max-sm:hidden",
				)}
			>
				<Labelled name={texts.filters.platform}>
					{(id) => (
						<Select
							id={id}
							value={asked.platform ?? ""}
							onChange={({ target }) => onChange({ platform: target.value })}
						>
							<option value="">{texts.filters.all}</option>
							{platforms.sort().map((platform) => (
								<option key={platform} value={platform}>
									{platformName(platform)}
								</option>
							))}
						</Select>
					)}
				</Labelled>
				<Labelled name={texts.filters.where}>
					{(id) => (
						<Select
							id={id}
							value={asked.role ?? ""}
							onChange={({ target }) => onChange({ role: target.value })}
						>
							<option value="">{texts.filters.everywhere}</option>
							{ROLES.map(([role, name]) => (
								<option key={role} value={role}>
									{name}
								</option>
							))}
						</Select>
					)}
				</Labelled>
				<Labelled name={texts.filters.conversation}>
					{(id) => (
						<Select
							id={id}
							value={asked.conversation ?? ""}
							onChange={({ target }) => onChange({ conversation: target.value })}
						>
							<option value="">{texts.filters.all}</option>
							{conversations.map((one) => (
								<option key={one.id} value={one.id}>
									{one.name}
								</option>
							))}
							<OtherConversation id={asked.conversation} known={conversations.map((one) => one.id)} />
						</Select>
					)}
				</Labelled>
				<Labelled name={texts.filters.from}>
					{(id) => (
						<Input
							id={id}
							type="date"
							value={asked.from ?? ""}
							max={asked.to}
							onChange={({ target }) => onChange({ from: target.value })}
						/>
					)}
				</Labelled>
				<Labelled name={texts.filters.to}>
					{(id) => (
						<Input
							id={id}
							type="date"
							value={asked.to ?? ""}
							min={asked.from}
							onChange={({ target }) => onChange({ to: target.value })}
						/>
					)}
				</Labelled>
				<Button
					look="quiet"
					className="self-end"
					icon={<X size={14} />}
					disabled={used === 0}
					onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, ""])))}
				>
					{texts.filters.clear}
				</Button>
			</div>
		</>
	);
}

function Labelled({
	name,
	children,
}: {
	readonly name: string;
	readonly children: (id: string) => ReactNode;
}) {
	const id = useId();
	return (
		<div className="flex min-w-0 flex-col gap-0.5">
			<label htmlFor={id} className="text-xs text-ink-3">
				{name}
			</label>
			{children(id)}
		</div>
	);
}

/** The conversation from the address, if it is not among the newest. */
function OtherConversation({
	id,
	known,
}: {
	readonly id: string | undefined;
	readonly known: readonly string[];
}) {
	const isOther = id !== undefined && !known.includes(id);
	const { data } = useApi(
		"conversation",
		{ conversation: id ?? "" },
		{ on: ["session", "conversation"], of: id ?? "", enabled: isOther },
	);
	if (!isOther) return null;
	return <option value={id}>{data?.name ?? id}</option>;
}

function given(value: string | undefined): readonly string[] {
	return value === undefined ? [] : [value];
}
