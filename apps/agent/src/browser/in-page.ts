/**
 * Runs inside pages, so it is source text: a bundler’s helpers do not exist there. `read` writes the page as text
 * and gives each link, button and field a reference; the counter continues from page to page, so that a reference
 * never means another element later. `find` returns the element of a reference while it is part of the page.
 */
const script = String.raw`
(() => {
  const key = Symbol.for('belay.references');
  const store = (document[key] ??= { refs: new WeakMap(), elements: new Map(), next: 1 });
  const blocks = /^(block|flex|grid|list-item|table|table-row|table-caption|flow-root)$/;
  const skipped = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'svg', 'HEAD', 'IFRAME', 'OBJECT']);
  const pointed = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[onclick],' +
    '[contenteditable=""],[contenteditable=true],[role=button],[role=link],[role=tab],[role=menuitem],' +
    '[role=checkbox],[role=switch],[role=option],[role=textbox],[role=combobox]';
  const one = (text) => text.replace(/\s+/g, ' ').trim();

  const reference = (element) => {
    let ref = store.refs.get(element);
    if (!ref) {
      ref = 'e' + store.next++;
      store.refs.set(element, ref);
      store.elements.set(ref, new WeakRef(element));
    }
    return '[' + ref + ']';
  };

  const visible = (element) =>
    element.checkVisibility
      ? element.checkVisibility({ visibilityProperty: true, opacityProperty: false })
      : true;

  const nameOf = (element) => {
    const labelled = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/)
      .map((id) => id && document.getElementById(id)?.textContent).filter(Boolean).join(' ');
    const label = element.labels?.[0];
    return one(
      element.getAttribute('aria-label') || labelled || (label && label.textContent) ||
      element.getAttribute('placeholder') || element.getAttribute('title') ||
      element.getAttribute('name') || element.id || '',
    );
  };

  const field = (element) => {
    const ref = reference(element);
    const name = nameOf(element);
    const off = element.disabled ? ', disabled' : '';
    if (element.tagName === 'SELECT') {
      const options = [...element.options];
      const chosen = options.filter((option) => option.selected).map((option) => one(option.label)).join(', ');
      const listed = options.slice(0, 30).map((option) => one(option.label)).join(' | ');
      const more = options.length > 30 ? ' | … ' + (options.length - 30) + ' more' : '';
      return ref + ' ' + name + ' (select' + off + '): ' + chosen + ' of ' + listed + more;
    }
    const type = element.tagName === 'TEXTAREA' ? 'text area' : element.type || 'text';
    if (type === 'checkbox' || type === 'radio') {
      return ref + ' ' + name + ' (' + type + (element.checked ? ', checked' : '') + off + ')';
    }
    if (type === 'submit' || type === 'button' || type === 'reset' || type === 'image') {
      return ref + ' ' + one(element.value || element.alt || name || type) + ' (button' + off + ')';
    }
    const value = type === 'password' ? '•'.repeat(element.value.length) : element.value;
    return ref + ' ' + name + ' (' + type + ' field' + off + '): ' + value;
  };

  const kind = (element) => {
    if (element.isContentEditable) return 'editable text';
    if (element.tagName === 'A' || element.getAttribute('role') === 'link') return 'link';
    return element.getAttribute('role') || 'button';
  };

  const read = (next) => {
    store.next = Math.max(store.next, next);
    let text = '';
    const line = () => { if (text && !text.endsWith('\n')) text += '\n'; };
    const put = (words) => {
      if (!words) return;
      text += /\s$/.test(text) || !text ? words.replace(/^\s+/, '') : words;
    };
    const children = (element, pre) => {
      const root = element.shadowRoot ?? element;
      const nodes = element.tagName === 'SLOT' && element.assignedNodes().length
        ? element.assignedNodes() : root.childNodes;
      for (const node of nodes) walk(node, pre);
    };
    const walk = (node, pre) => {
      if (node.nodeType === 3) {
        if (pre) text += node.data;
        else put(node.data.replace(/\s+/g, ' '));
        return;
      }
      if (node.nodeType !== 1 || skipped.has(node.tagName) || !visible(node)) return;
      const tag = node.tagName;
      if (tag === 'BR') { text += '\n'; return; }
      if (tag === 'HR') { line(); text += '---\n'; return; }
      if (tag === 'IMG') {
        if (node.alt) put('(image: ' + one(node.alt) + ') ');
        return;
      }
      if (tag === 'INPUT' || tag === 'SELECT' || tag === 'TEXTAREA') {
        if (node.type !== 'hidden') put(field(node) + ' ');
        return;
      }
      const style = getComputedStyle(node);
      const block = blocks.test(style.display);
      const isPre = pre || style.whiteSpace.startsWith('pre');
      if (block) line();
      if (/^H[1-6]$/.test(tag)) text += '#'.repeat(Number(tag[1])) + ' ';
      if (tag === 'LI') text += '- ';
      if (node.matches(pointed)) {
        put(reference(node) + ' ');
        const before = text.length;
        children(node, isPre);
        if (text.length === before || !text.slice(before).trim()) text += nameOf(node);
        text = text.trimEnd() + ' (' + kind(node) + (node.disabled ? ', disabled' : '') + ') ';
      } else {
        children(node, isPre);
      }
      if (tag === 'TD' || tag === 'TH') text = text.trimEnd() + ' | ';
      if (block) line();
    };
    if (document.body) walk(document.body, false);
    for (const [ref, element] of store.elements) if (!element.deref()) store.elements.delete(ref);
    return {
      text: text.replace(/[ \t]+\n/g, '\n').replace(/\n{3,}/g, '\n\n').trim(),
      next: store.next,
    };
  };

  const find = (ref) => {
    const element = store.elements.get(ref)?.deref();
    return element?.isConnected ? element : null;
  };

  const settled = (delay, most) => new Promise((resolve) => {
    let timer;
    const observer = new MutationObserver(() => wait());
    const end = () => { observer.disconnect(); clearTimeout(timer); clearTimeout(limit); resolve(true); };
    const limit = setTimeout(end, most);
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => (document.readyState === 'loading' ? wait() : end()), delay);
    };
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    wait();
  });

  return { read, find, settled };
})()
`;

/** An expression with the return value of one of the script’s functions. */
export function inPage(name: 'read' | 'find' | 'settled', ...args: (string | number)[]): string {
  return `${script.trim()}.${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`;
}
