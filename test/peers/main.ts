// `npm run peer -- telegram [port]`: a chat platform on this machine, to try Keryx on without an account.
import { createInterface } from "node:readline";
import { createTelegramPeer } from "./telegram/index.ts";
import { HELP, Talk } from "./telegram/talk.ts";

const [platform = "", given = "8081"] = process.argv.slice(2);
if (platform !== "telegram") {
	console.error(`There is no peer for ${JSON.stringify(platform)}. Use: npm run peer -- telegram [port]`);
	process.exit(2);
}
const peer = await createTelegramPeer({ port: Number(given) });
const talk = new Talk(peer, (line) => console.log(line));
console.log(`Telegram is at ${peer.apiRoot}. Put this into config.yaml:

channels:
  telegram:
    platform: telegram
    token_env: TELEGRAM_TOKEN
    api_root: ${peer.apiRoot}
auth:
  telegram:
    allow:
      - { id: "${talk.person.id}", role: owner }

and start Keryx with TELEGRAM_TOKEN=${peer.bot.token}

${HELP}
`);
const lines = createInterface({ input: process.stdin });
for await (const line of lines) if (!(await talk.line(line))) break;
lines.close();
await peer.close();
