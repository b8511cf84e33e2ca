// Runs before the first paint, so that a chosen theme does not flash; not a module for that reason.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem('batag.theme');
  } catch {
    // Storage may be forbidden; then the system's theme is used.
  }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
