import type { ReactNode } from 'react';
import { Choice } from '@/components/ui/choice';
import { Input, optionsOf } from '@/components/ui/field';
import { Switch } from '@/components/ui/switch';
import { allowNotifications } from '@/lib/notify';
import { usePreferences, type Theme } from '@/lib/preferences';
import { usePasswordUser } from '@/lib/role';
import { attempt, toast } from '@/lib/toasts';
import { OwnPassword } from './own-password';

const themes = optionsOf<Theme>({ system: 'System', light: 'Light', dark: 'Dark' });

/** The dashboard’s appearance and behaviour in this browser. */
export function GeneralSettings() {
  const preferences = usePreferences();
  const user = usePasswordUser();
  const notify = (on: boolean) =>
    attempt(async () => {
      const allowed = on && (await allowNotifications());
      preferences.set({ notifications: allowed });
      if (on && !allowed)
        toast('Notifications are blocked. Allow them in the browser’s site settings.');
    });
  return (
    <div className="divide-y">
      <Row title="Theme">
        <Choice
          label="Theme"
          value={preferences.theme}
          options={themes}
          onChange={(theme) => preferences.set({ theme })}
        />
      </Row>
      <Row
        title="Notifications"
        text="When a session ends or is waiting for you while this page is in the background."
      >
        <Switch label="Notifications" on={preferences.notifications} onChange={notify} />
      </Row>
      <Row title="Follow the agent" text="The code panel opens each file as it is edited.">
        <Switch
          label="Follow the agent"
          on={preferences.follow}
          onChange={(follow) => preferences.set({ follow })}
        />
      </Row>
      <Row
        title="Expand reasoning by default"
        text="Each reply shows the model’s reasoning in full."
      >
        <Switch
          label="Expand reasoning by default"
          on={preferences.reasoning}
          onChange={(reasoning) => preferences.set({ reasoning })}
        />
      </Row>
      <Row title="Terminal font size (px)">
        <Input
          type="number"
          aria-label="Terminal font size (px)"
          min={9}
          max={24}
          value={preferences.terminalSize}
          onChange={(event) => preferences.set({ terminalSize: Number(event.target.value) || 13 })}
          className="w-20"
        />
      </Row>
      {user !== undefined && <OwnPassword user={user} />}
    </div>
  );
}

interface RowProps {
  title: string;
  text?: string;
  children: ReactNode;
}

function Row({ title, text, children }: RowProps) {
  return (
    <div className="flex items-center justify-between gap-4 py-3 max-sm:flex-wrap">
      <div className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{title}</p>
        {text && <p className="text-sm text-muted">{text}</p>}
      </div>
      {children}
    </div>
  );
}
