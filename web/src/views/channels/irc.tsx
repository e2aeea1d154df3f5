// What an IRC network needs in place of a bot's token: a server, a nick, channels, and perhaps an account.

import { useState } from "react";
import { texts } from "../../texts/channels.ts";
import { Field, Input } from "../../ui/index.ts";

export function useIrcFields() {
	const [server, setServer] = useState("");
	const [nick, setNick] = useState("");
	const [login, setLogin] = useState("");
	const [password, setPassword] = useState("");
	const [channels, setChannels] = useState("");
	const [serverPassword, setServerPassword] = useState("");
	const [isPlain, setIsPlain] = useState(false);
	const [host = "", port] = server.trim().split(":");
	const join = channels.split(/[\s,]+/).filter((name) => name !== "");
	const isComplete =
		host !== "" &&
		nick.trim() !== "" &&
		(login.trim() === "" || password !== "") &&
		(!port || Number(port) > 0);
	const body = {
		...(login.trim() !== "" && { token: password }),
		...(serverPassword !== "" && { server_password: serverPassword }),
		irc: {
			server: host,
			nick: nick.trim(),
			...(port && { port: Number(port) }),
			...(isPlain && { tls: false }),
			...(login.trim() !== "" && { login: login.trim() }),
			...(join.length > 0 && { join }),
		},
	};
	const text = (
		label: string,
		about: string,
		value: string,
		set: (value: string) => void,
		type: "text" | "password" = "text",
	) => (
		<Field label={label} about={about}>
			{(id) => (
				<Input
					id={id}
					type={type}
					value={value}
					autoComplete="off"
					spellCheck={false}
					onChange={({ target }) => set(target.value)}
				/>
			)}
		</Field>
	);
	const fields = (
		<>
			{text(texts.irc.server, texts.irc.suchAsLibera, server, setServer)}
			{text(texts.irc.nick, texts.irc.nameOnTheNetwork, nick, setNick)}
			{text(texts.irc.channels, texts.irc.channelsToJoin, channels, setChannels)}
			{text(texts.irc.accountName, texts.irc.onlyIfRegistered, login, setLogin)}
			{login.trim() !== "" &&
				text(texts.irc.password, texts.irc.ofTheAccount, password, setPassword, "password")}
		</>
	);
	const more = (
		<>
			{text(
				texts.irc.serverPassword,
				texts.irc.onlyIfTheServer,
				serverPassword,
				setServerPassword,
				"password",
			)}
			<label className="flex items-center gap-2 text-sm">
				<input type="checkbox" checked={isPlain} onChange={({ target }) => setIsPlain(target.checked)} />
				{texts.irc.withoutEncryption}
			</label>
		</>
	);
	return { fields, more, body, isComplete };
}
