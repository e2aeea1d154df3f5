import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api } from "../../api/index.ts";
import { Button, CopyButton, Dialog, ErrorLine, Field, Input, Select } from "../../ui/index.ts";

const ROLES = [
	["reader", "reads everything, changes nothing"],
	["approver", "decides about confirmations, reads everything"],
	["agent", "asks for confirmations, nothing else"],
	["operator", "may do everything that you may"],
] as const;
type Role = (typeof ROLES)[number][0];

const DAYS = [
	["", "Never"],
	["7", "In 7 days"],
	["30", "In 30 days"],
	["90", "In 90 days"],
	["365", "In a year"],
] as const;

/** The token itself is known to this dialog alone, and gone when it closes. */
export function CreateToken({ onClose }: { readonly onClose: () => void }) {
	const [name, setName] = useState("");
	const [role, setRole] = useState<Role>("reader");
	const [days, setDays] = useState("90");
	const form = useId();
	const { mutate, data, isPending, error } = useMutation({
		mutationFn: () => api.createToken({ name, role, ...(days !== "" && { days: Number(days) }) }),
		gcTime: 0,
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		mutate();
	};
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={data ? `The token ${data.name}` : "New token"}
			about={
				data ? "It is shown this once. Copy it now, to where it is used." : "For a program that calls Keryx."
			}
			actions={
				data ? (
					<Button look="primary" onClick={onClose}>
						Done
					</Button>
				) : (
					<>
						<Button onClick={onClose}>Cancel</Button>
						<Button look="primary" type="submit" form={form} disabled={isPending || name === ""}>
							Create
						</Button>
					</>
				)
			}
		>
			{data ? (
				<div className="flex items-center gap-1">
					<Input
						readOnly
						aria-label="Token"
						value={data.token}
						className="font-mono text-sm"
						onFocus={({ target }) => target.select()}
					/>
					<CopyButton text={data.token} label="Copy the token" />
				</div>
			) : (
				<form id={form} className="flex flex-col gap-3" onSubmit={submit}>
					<Field label="Name" about="The audit calls its holder by it.">
						{(id) => (
							<Input
								id={id}
								value={name}
								maxLength={64}
								autoComplete="off"
								spellCheck={false}
								placeholder="nightly-report"
								onChange={({ target }) => setName(target.value)}
							/>
						)}
					</Field>
					<Field label="Role">
						{(id) => (
							<Select id={id} value={role} onChange={({ target }) => setRole(target.value as Role)}>
								{ROLES.map(([value, about]) => (
									<option key={value} value={value}>
										{value}: {about}
									</option>
								))}
							</Select>
						)}
					</Field>
					<Field label="Ends">
						{(id) => (
							<Select id={id} value={days} onChange={({ target }) => setDays(target.value)}>
								{DAYS.map(([value, about]) => (
									<option key={value} value={value}>
										{about}
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
