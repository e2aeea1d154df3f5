// Who may log in to the page: login links, logins, and logging out.
import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api, queryClient, useApi } from "../../api/index.ts";
import { dateOf, fullTime } from "../../lib/time.ts";
import { texts } from "../../texts/settings.ts";
import {
	Badge,
	Button,
	type Column,
	CopyButton,
	Dialog,
	ErrorLine,
	ErrorState,
	Field,
	Input,
	RelativeTime,
	Select,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";

type Login = Answer<"logins">["logins"][number];
const ROLES = ["member", "guest", "owner"] as const;
type Role = (typeof ROLES)[number];

export function PeopleTab() {
	const [inviting, setInviting] = useState(false);
	const [revoking, setRevoking] = useState<Login | null>(null);
	const own = useApi("me", {}).data?.who;
	const { data, error, refetch } = useApi("logins", {}, { on: ["login", "token"] });
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	const columns: Column<Login>[] = [
		{
			name: texts.peopleTab.person,
			cell: ({ id, person, state }) => (
				<>
					<span className={state === "valid" ? "" : "text-ink-3 line-through"}>
						{person ?? texts.peopleTab.operator}
					</span>
					{own === `token:${id}` && (
						<span className="block text-xs text-ink-3">{texts.peopleTab.thisBrowser}</span>
					)}
				</>
			),
		},
		{
			name: texts.peopleTab.role,
			cell: ({ role }) => <Badge tone={role === "owner" ? "accent" : "neutral"}>{role}</Badge>,
		},
		{
			name: texts.peopleTab.made,
			cell: ({ created_at }) => <RelativeTime at={created_at} />,
			wideOnly: true,
		},
		{
			name: texts.peopleTab.until,
			cell: ({ state, expires_at }) =>
				state === "valid" && expires_at !== null ? (
					<time dateTime={expires_at} title={fullTime(Date.parse(expires_at))} className="whitespace-nowrap">
						{dateOf(Date.parse(expires_at))}
					</time>
				) : (
					texts.peopleTab.state[state]
				),
		},
		{
			name: texts.peopleTab.revoke,
			align: "right",
			cell: (login) =>
				login.state === "valid" ? (
					<Button size="sm" look="danger" onClick={() => setRevoking(login)}>
						{texts.peopleTab.revoke}
						<span className="sr-only"> {nameOf(login)}</span>
					</Button>
				) : null,
		},
	];
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-3 px-4 py-4 lg:px-6">
			<div className="flex flex-wrap items-center gap-3">
				<p className="min-w-0 flex-1 basis-80 text-ink-2">{texts.peopleTab.about}</p>
				<Button look="primary" icon={<Plus size={15} />} onClick={() => setInviting(true)}>
					{texts.peopleTab.invite}
				</Button>
			</div>
			{data.logins.length === 0 ? (
				<p className="text-ink-3">{texts.peopleTab.none}</p>
			) : (
				<div className="-mx-4 lg:mx-0 lg:rounded-md lg:border">
					<Table
						label={texts.peopleTab.logins}
						columns={columns}
						rows={[...data.logins].sort(validFirst)}
						rowKey={({ id }) => id}
					/>
				</div>
			)}
			{inviting && <Invite onClose={() => setInviting(false)} />}
			{revoking && <Revoke login={revoking} onClose={() => setRevoking(null)} />}
		</div>
	);
}

/** The link exists only in this dialog, and is gone when it closes. */
function Invite({ onClose }: { readonly onClose: () => void }) {
	const [person, setPerson] = useState("");
	const [role, setRole] = useState<Role>("member");
	const form = useId();
	const { mutate, data, isPending, error } = useMutation({
		mutationFn: () => api.offerLogin({ person, role }),
		// The new role also applies to existing logins.
		onSuccess: () => queryClient.invalidateQueries({ queryKey: ["logins"] }),
		gcTime: 0,
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		mutate();
	};
	const link = data && (data.url ?? `${location.origin}${data.path}`);
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={data ? texts.peopleTab.link(data.person) : texts.peopleTab.invite}
			about={data ? texts.peopleTab.linkAbout : texts.peopleTab.newAbout}
			actions={
				data ? (
					<Button look="primary" onClick={onClose}>
						{texts.peopleTab.done}
					</Button>
				) : (
					<>
						<Button onClick={onClose}>{texts.peopleTab.cancel}</Button>
						<Button look="primary" type="submit" form={form} disabled={isPending || person === ""}>
							{texts.peopleTab.create}
						</Button>
					</>
				)
			}
		>
			{link ? (
				<div className="flex items-center gap-1">
					<Input
						readOnly
						aria-label={texts.peopleTab.link(data.person)}
						value={link}
						className="font-mono text-sm"
						onFocus={({ target }) => target.select()}
					/>
					<CopyButton text={link} label={texts.peopleTab.copy} />
				</div>
			) : (
				<form id={form} className="flex flex-col gap-3" onSubmit={submit}>
					<Field label={texts.peopleTab.person} about={texts.peopleTab.nameAbout}>
						{(id) => (
							<Input
								id={id}
								value={person}
								maxLength={40}
								autoComplete="off"
								spellCheck={false}
								placeholder="ana"
								onChange={({ target }) => setPerson(target.value)}
							/>
						)}
					</Field>
					<Field label={texts.peopleTab.role}>
						{(id) => (
							<Select id={id} value={role} onChange={({ target }) => setRole(target.value as Role)}>
								{ROLES.map((one) => (
									<option key={one} value={one}>
										{texts.peopleTab.roles[one]}
									</option>
								))}
							</Select>
						)}
					</Field>
					{error && <ErrorLine error={error} />}
				</form>
			)}
		</Dialog>
	);
}

function Revoke({ login, onClose }: { readonly login: Login; readonly onClose: () => void }) {
	const [all, setAll] = useState(false);
	const { person } = login;
	const { mutate, isPending, error } = useMutation({
		mutationFn: () => api.revokeLogins(all && person !== null ? { person } : { id: login.id }),
		onSuccess: onClose,
	});
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={texts.peopleTab.revokeOne(nameOf(login))}
			about={texts.peopleTab.revokeAbout}
			actions={
				<>
					<Button onClick={onClose}>{texts.peopleTab.keep}</Button>
					<Button look="danger" disabled={isPending} onClick={() => mutate()}>
						{texts.peopleTab.revoke}
					</Button>
				</>
			}
		>
			{person !== null && (
				<label className="flex items-center gap-2">
					<input type="checkbox" checked={all} onChange={({ target }) => setAll(target.checked)} />
					{texts.peopleTab.revokeAll}
				</label>
			)}
			{error && <ErrorLine error={error} />}
		</Dialog>
	);
}

function nameOf({ person }: Login): string {
	return person ?? texts.peopleTab.operator;
}

function validFirst(a: Login, b: Login): number {
	return (
		Number(a.state !== "valid") - Number(b.state !== "valid") || b.created_at.localeCompare(a.created_at)
	);
}
