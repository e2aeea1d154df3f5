// Settings for a platform where you choose the server. Keryx's server defines the fields and their texts.

import { useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { texts } from "../../texts/channels.ts";
import { Field, Input } from "../../ui/index.ts";

type Network = Answer<"channelPlatforms">["networks"][number];

/** Undefined if the platform has no server to choose. */
export function useNetworkFields(network: Network | undefined) {
	const [values, setValues] = useState<Readonly<Record<string, string>>>({});
	const [isAgreed, setIsAgreed] = useState(false);
	const { fields = [], secrets = [], packages = [], megabytes = 0 } = network ?? {};
	const given = (key: string) => values[key]?.trim() ?? "";
	const set = (key: string, value: string) => setValues((before) => ({ ...before, [key]: value }));
	const asked = secrets.filter(({ when }) => when === "always" || when === "asked" || given(when) !== "");
	const isComplete =
		fields.every(({ key, needed }) => !needed || given(key) !== "") &&
		asked.every(({ name, when }) => when === "asked" || given(name) !== "") &&
		(packages.length === 0 || isAgreed);
	const body = {
		...Object.fromEntries(asked.flatMap(({ name }) => (given(name) === "" ? [] : [[name, given(name)]]))),
		...(packages.length > 0 && { install: isAgreed }),
		network: Object.fromEntries(fields.flatMap((field) => entryOf(field, given(field.key)))),
	};
	const input = (
		key: string,
		label: string,
		about: string,
		type: "text" | "password" | "number" = "text",
	) => (
		<Field key={key} label={label} about={about}>
			{(id) => (
				<Input
					id={id}
					type={type}
					value={values[key] ?? ""}
					autoComplete="off"
					spellCheck={false}
					onChange={({ target }) => set(key, target.value)}
				/>
			)}
		</Field>
	);
	const inputOf = ({ key, kind, label, about, example }: Network["fields"][number]) =>
		kind === "switch" ? (
			<label key={key} className="flex items-center gap-2 text-sm">
				<input
					type="checkbox"
					checked={given(key) !== "off"}
					onChange={({ target }) => set(key, target.checked ? "" : "off")}
				/>
				{texts.network.switch(label, about)}
			</label>
		) : (
			input(key, label, texts.network.about(about, example), kind === "number" ? "number" : "text")
		);
	const secretOf = ({ name, label, about }: Network["secrets"][number]) =>
		input(name, label, texts.network.about(about, null), "password");
	return {
		isComplete,
		body,
		fields: (
			<>
				{fields.filter(({ more }) => !more).map(inputOf)}
				{asked.filter(({ when }) => when !== "asked").map(secretOf)}
				{packages.length > 0 && (
					<label className="flex items-start gap-2 text-sm">
						<input
							type="checkbox"
							className="mt-0.5"
							checked={isAgreed}
							onChange={({ target }) => setIsAgreed(target.checked)}
						/>
						{texts.network.install(packages.join(", "), megabytes)}
					</label>
				)}
			</>
		),
		more: (
			<>
				{fields.filter(({ more }) => more).map(inputOf)}
				{asked.filter(({ when }) => when === "asked").map(secretOf)}
			</>
		),
	};
}

type Entry = readonly [string, string | number | boolean | string[]];

/** An empty field gives no entry: the default applies. */
function entryOf({ key, kind }: Network["fields"][number], value: string): readonly Entry[] {
	if (value === "") return [];
	if (kind === "number") return [[key, Number(value)]];
	if (kind === "switch") return [[key, false]];
	if (kind === "list") return [[key, value.split(/[\s,]+/).filter((one) => one !== "")]];
	return [[key, value]];
}
