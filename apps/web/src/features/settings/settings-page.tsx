import type { ComponentType } from 'react';
import { getRouteApi, Link } from '@tanstack/react-router';
import { TopBar } from '@/app/top-bar';
import { cx } from '@/lib/classes';
import { BudgetSettings, NetworkSettings } from './default-settings';
import { GeneralSettings } from './general-settings';
import { McpSettings } from './mcp-settings';
import { ModelSettings } from './model-settings';
import { RuleSettings } from './rule-settings';
import { ShortcutSettings } from './shortcut-settings';

const route = getRouteApi('/settings');

const sections = [
  { id: 'general', title: 'General', Content: GeneralSettings },
  { id: 'models', title: 'Models and keys', Content: ModelSettings },
  { id: 'budgets', title: 'Budgets', Content: BudgetSettings },
  { id: 'network', title: 'Network', Content: NetworkSettings },
  { id: 'approvals', title: 'Approvals', Content: RuleSettings },
  { id: 'mcp', title: 'MCP servers', Content: McpSettings },
  { id: 'shortcuts', title: 'Shortcuts', Content: ShortcutSettings },
] as const satisfies { id: string; title: string; Content: ComponentType }[];

/** On a phone the sections are a line that is longer than the page is wide. */
const intoView = (link: HTMLElement | null): void =>
  link?.scrollIntoView({ block: 'nearest', inline: 'center' });

export function SettingsPage() {
  const { section = 'general' } = route.useSearch();
  const shown = sections.find(({ id }) => id === section) ?? sections[0];
  return (
    <>
      <title>{`${shown.title} · Belay`}</title>
      <TopBar />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex max-w-4xl gap-8 p-6 max-sm:flex-col max-sm:gap-4 max-sm:p-4">
          <nav
            aria-label="Settings"
            className="flex w-44 shrink-0 flex-col gap-0.5 max-sm:w-full max-sm:flex-row max-sm:overflow-x-auto"
          >
            {sections.map(({ id, title }) => (
              <Link
                key={id}
                to="/settings"
                search={{ section: id }}
                ref={id === shown.id ? intoView : undefined}
                className={cx(
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
      </main>
    </>
  );
}
