// A gateway in a process of its own that starts programs until it is killed.
import "../support/keep-compiled.ts";
import { openLife } from "./programs.ts";

const [folder = "", chat = ""] = process.argv.slice(2);
const { gateway } = await openLife(folder);
await gateway.accept({
	source: { platform: "local", chat_id: chat, chat_type: "dm", user_id: chat },
	platformMessage: "go",
	content: "go",
});
console.log("accepted");
setInterval(() => {}, 1000);
