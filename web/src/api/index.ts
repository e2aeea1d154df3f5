export { api } from "./api.ts";
export { ApiError } from "./error.ts";
export { useLoggedIn } from "./login.ts";
export { useMe } from "./me.ts";
export { apiKey, queryClient, useApi } from "./query.ts";
export { readText } from "./request.ts";
export { attachmentBlob, attachmentUrl, upload } from "./upload.ts";
