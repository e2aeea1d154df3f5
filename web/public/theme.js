// Before the first paint, so that a chosen theme never flashes the other one.
try {
	const theme = localStorage.getItem("keryx.theme");
	if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
	// Without storage the system's theme holds.
}
