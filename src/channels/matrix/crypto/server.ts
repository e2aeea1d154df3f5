// Inside the thread with the keys: the library's machine over our IndexedDB.
import type * as Library from "@matrix-org/matrix-sdk-crypto-wasm";
import type { CryptoCalls, CryptoSettings, KeyRequest } from "./calls.ts";
import { installIdb } from "./idb.ts";
import { IdbFile } from "./idb-file.ts";

export interface Machine {
	readonly calls: CryptoCalls;
	close(): void;
}

/** Throws FileTaken if another process has the file. */
export async function openMachine({ file: at, library, user, device }: CryptoSettings): Promise<Machine> {
	const file = new IdbFile(at);
	try {
		installIdb(file);
		const lib = (await import(library)) as typeof Library;
		await lib.initAsync();
		// Each device has separate keys; those of an earlier login stay, unused.
		const name = `${user} ${device}`;
		const machine = await lib.OlmMachine.initialize(new lib.UserId(user), new lib.DeviceId(device), name);
		return {
			calls: callsOf(lib, machine, file),
			close: () => {
				machine.close();
				file.close();
			},
		};
	} catch (error) {
		file.close();
		throw error;
	}
}

function callsOf(lib: typeof Library, machine: Library.OlmMachine, file: IdbFile): CryptoCalls {
	const users = (ids: readonly string[]) => ids.map((id) => new lib.UserId(id));
	const settings = () => new lib.DecryptionSettings(lib.TrustRequirement.Untrusted);
	const setEncrypted = async (room: string) => {
		if (await machine.getRoomSettings(new lib.RoomId(room))) return;
		const kept = new lib.RoomSettings();
		kept.algorithm = lib.EncryptionAlgorithm.MegolmV1AesSha2;
		await machine.setRoomSettings(new lib.RoomId(room), kept);
	};
	return {
		fingerprint: async () => machine.identityKeys.ed25519.toBase64(),
		receive: async ({ toDevice, changed, left, counts, fallback }) => {
			await machine.receiveSyncChanges(
				JSON.stringify(toDevice),
				new lib.DeviceLists(users(changed), users(left)),
				new Map(Object.entries(counts)),
				fallback && new Set(fallback),
				settings(),
			);
		},
		outgoing: async () => (await machine.outgoingRequests()).map(toRequest),
		sent: async ({ id, type }, answer) => {
			await machine.markRequestAsSent(id, type, answer);
		},
		track: (ids) => machine.updateTrackedUsers(users(ids)),
		missing: async (ids) => {
			const request = await machine.getMissingSessions(users(ids));
			return request ? toRequest(request) : null;
		},
		share: async (room, ids, { visibility, rotationMs, rotationMessages }) => {
			await setEncrypted(room);
			const wanted = new lib.EncryptionSettings();
			wanted.historyVisibility = visibilityOf(lib, visibility);
			if (rotationMs !== undefined) wanted.rotationPeriod = BigInt(rotationMs) * 1000n;
			if (rotationMessages !== undefined) wanted.rotationPeriodMessages = BigInt(rotationMessages);
			return (await machine.shareRoomKey(new lib.RoomId(room), users(ids), wanted)).map(toRequest);
		},
		encrypt: (room, type, content) => machine.encryptRoomEvent(new lib.RoomId(room), type, content),
		decrypt: async (room, event) => {
			try {
				const { event: read } = await machine.decryptRoomEvent(event, new lib.RoomId(room), settings());
				await setEncrypted(room);
				return { event: read };
			} catch (error) {
				if (error instanceof lib.MegolmDecryptionError) return { reason: error.description };
				throw error;
			}
		},
		isEncrypted: async (room) => (await machine.getRoomSettings(new lib.RoomId(room))) !== undefined,
		crossSigning: async () => {
			const { hasMaster, hasSelfSigning } = await machine.crossSigningStatus();
			const identity = await machine.getIdentity(machine.userId);
			const own = await machine.getDevice(machine.userId, machine.deviceId);
			return {
				isOurs: hasMaster && hasSelfSigning,
				isKnown: identity !== undefined,
				isSigned: own?.isCrossSignedByOwner() === true,
			};
		},
		bootstrap: async () => {
			const { uploadKeysRequest, uploadSigningKeysRequest, uploadSignaturesRequest } =
				await machine.bootstrapCrossSigning(false);
			const keys = uploadKeysRequest as Library.KeysUploadRequest | undefined;
			return {
				keys: keys ? toRequest(keys) : null,
				signing: uploadSigningKeysRequest.body,
				signatures: toRequest(uploadSignaturesRequest),
			};
		},
		keep: async (room, event, body, now) => file.keepWaiting(room, event, body, now),
		forget: async (room, event) => file.forgetWaiting(room, event),
		waiting: async (since) => file.waiting(since),
	};
}

type LibraryRequest = Pick<Library.KeysUploadRequest, "body" | "type"> & {
	readonly id?: string | undefined;
	readonly event_type?: string;
	readonly txn_id?: string;
	readonly room_id?: string;
};

function toRequest(request: LibraryRequest): KeyRequest {
	const { id = "", type, body, event_type: eventType, txn_id: transaction, room_id: room } = request;
	return {
		id,
		type,
		body,
		...(eventType !== undefined && { eventType }),
		...(transaction !== undefined && { transaction }),
		...(room !== undefined && { room }),
	};
}

function visibilityOf(lib: typeof Library, name: string): Library.HistoryVisibility {
	const { Invited, Joined, Shared, WorldReadable } = lib.HistoryVisibility;
	return { invited: Invited, joined: Joined, world_readable: WorldReadable }[name] ?? Shared;
}
