import { lazyRouteComponent } from '@tanstack/react-router';
import type { pages as sitePages } from '@/app/lazy-pages';
import { NoPage } from '@/components/no-page';

const None = () => <NoPage title="A recording has one session only" />;

/** The pages of a recording, so that the file of one session does not contain all others. */
export const pages = {
  NewSessionPage: None,
  SessionPage: lazyRouteComponent(() => import('@/features/session/session-page'), 'SessionPage'),
  ComparePage: None,
  SettingsPage: None,
  EvaluationsPage: None,
  NewRunPage: None,
  EvaluationPage: None,
  ActionsPage: None,
  ActionPage: None,
  AutomationsPage: None,
  AutomationPage: None,
  AutomationRunPage: None,
  DoctorPage: None,
} satisfies Record<keyof typeof sitePages, unknown>;
