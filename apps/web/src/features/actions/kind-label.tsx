import type { ActionKind } from '@belay/protocol';

const words = { action: '', skill: 'skill', mcp: 'MCP server' };

/** What it is, where that is not a plain action. */
export function KindLabel({ kind }: { kind: ActionKind }) {
  if (kind === 'action') return null;
  return <span className="ml-2 font-sans text-xs font-normal text-faint">{words[kind]}</span>;
}
