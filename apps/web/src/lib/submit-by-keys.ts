/** Makes Ctrl+Enter (⌘ on a Mac) submit the focused form from any of its fields. */
export function submitByKeys(): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    if (event.defaultPrevented || event.isComposing || !(event.target instanceof Element)) return;
    const form = event.target.closest('form');
    if (!form) return;
    event.preventDefault();
    form.requestSubmit();
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}
