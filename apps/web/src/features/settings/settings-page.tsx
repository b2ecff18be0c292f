import type { ComponentType } from 'react';
import { getRouteApi, Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Page } from '@/components/page';
import { useAdmin, useSeesOnlySome } from '@/lib/role';
import { AgentSettings } from './agent-settings';
import { AuditSettings } from './audit-settings';
import { BudgetSettings, NetworkSettings } from './default-settings';
import { GeneralSettings } from './general-settings';
import { GitHostSettings } from './git-host-settings';
import { MachineSettings } from './machine-settings';
import { McpSettings } from './mcp-settings';
import { ModelSettings } from './model-settings';
import { RuleSettings } from './rule-settings';
import { ShortcutSettings } from './shortcut-settings';
import { TokenSettings } from './token-settings';
import { UserSettings } from './user-settings';

const route = getRouteApi('/settings');

const sections = [
  { id: 'general', title: 'General', Content: GeneralSettings, forAll: true },
  { id: 'models', title: 'Models and keys', Content: ModelSettings },
  { id: 'agents', title: 'Agents', Content: AgentSettings },
  { id: 'budgets', title: 'Budgets', Content: BudgetSettings },
  { id: 'network', title: 'Network', Content: NetworkSettings },
  { id: 'approvals', title: 'Approvals', Content: RuleSettings },
  { id: 'git', title: 'Git hosts', Content: GitHostSettings },
  { id: 'machines', title: 'Machines', Content: MachineSettings },
  { id: 'mcp', title: 'MCP servers', Content: McpSettings },
  { id: 'tokens', title: 'Tokens', Content: TokenSettings, forAdmins: true },
  { id: 'users', title: 'Users', Content: UserSettings, forAdmins: true },
  { id: 'audit', title: 'Audit log', Content: AuditSettings, forAdmins: true },
  { id: 'shortcuts', title: 'Shortcuts', Content: ShortcutSettings, forAll: true },
] as const satisfies {
  id: string;
  title: string;
  Content: ComponentType;
  forAdmins?: boolean;
  /** Also for callers that see only some sessions, and so nothing of the server. */
  forAll?: boolean;
}[];

/** On phones the sections are a scrollable row, so this reveals the current one. */
const intoView = (link: HTMLElement | null): void =>
  link?.scrollIntoView({ block: 'nearest', inline: 'center' });

export function SettingsPage() {
  const { section = 'general' } = route.useSearch();
  const isAdmin = useAdmin();
  const seesOnlySome = useSeesOnlySome();
  const offered = sections.filter((each) =>
    seesOnlySome ? 'forAll' in each : isAdmin || !('forAdmins' in each),
  );
  const shown = offered.find(({ id }) => id === section) ?? sections[0];
  return (
    <Page title={`${shown.title} · Belay`} className="overflow-y-auto">
      <div className="mx-auto flex max-w-4xl gap-8 p-6 max-sm:flex-col max-sm:gap-4 max-sm:p-4">
        <nav
          aria-label="Settings"
          className="flex w-44 shrink-0 flex-col gap-0.5 max-sm:w-full max-sm:flex-row max-sm:overflow-x-auto"
        >
          {offered.map(({ id, title }) => (
            <Link
              key={id}
              to="/settings"
              search={{ section: id }}
              ref={id === shown.id ? intoView : undefined}
              className={clsx(
                'rounded-md px-2 py-1.5 text-sm whitespace-nowrap',
                id === shown.id ? 'bg-hover font-medium' : 'text-muted hover:text-ink',
              )}
            >
              {title}
            </Link>
          ))}
        </nav>
        <section className="min-w-0 flex-1">
          <h1 className="mb-4 text-xl font-semibold">{shown.title}</h1>
          <shown.Content />
        </section>
      </div>
    </Page>
  );
}
