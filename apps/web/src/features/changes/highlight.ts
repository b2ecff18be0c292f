import { common, createLowlight } from 'lowlight';
import { syntaxKinds, type Highlighted } from './syntax';

const lowlight = createLowlight(common);

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/**
 * Highlights a text in a language that lowlight supports. It can take long for some texts, so call
 * it in a worker.
 */
export function highlight(language: string, text: string): Highlighted {
  const starts = [0];
  const runs: number[] = [];
  const put = (value: string, kind: number) => {
    for (const [index, part] of value.split('\n').entries()) {
      if (index > 0) starts.push(runs.length);
      if (part !== '') runs.push(part.length, kind);
    }
  };
  const walk = (nodes: readonly Node[], kind: number) => {
    for (const node of nodes) {
      if (node.type === 'text') put(node.value, kind);
      else if (node.type === 'element') walk(node.children, kindOf(node.properties, kind));
    }
  };
  walk(lowlight.highlight(language, text).children, 0);
  return {
    starts: Uint32Array.from([...starts, runs.length]),
    runs: Uint32Array.from(runs),
  };
}

const scopes: Record<(typeof syntaxKinds)[number], string> = {
  plain: 'subst template-variable',
  keyword: 'keyword literal selector-tag name bullet doctag',
  string: 'string regexp char link code symbol addition',
  comment: 'comment quote deletion',
  number: 'number',
  title: 'title section function',
  type: 'type class built_in selector-class selector-id',
  attribute: 'attr attribute variable property meta selector-attr selector-pseudo',
};
const kinds = new Map<string, number>(
  syntaxKinds.flatMap((kind, index) =>
    scopes[kind].split(' ').map((scope) => [`hljs-${scope}`, index] as const),
  ),
);
/** Scopes that are not listed inherit the kind of their parent. */
function kindOf({ className }: { className?: unknown }, around: number): number {
  const [scope] = Array.isArray(className) ? className : [];
  return kinds.get(String(scope)) ?? around;
}
