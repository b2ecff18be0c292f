import { createMemoryHistory } from '@tanstack/react-router';
import { router } from '@/app/router';
import { startApp } from '@/app/start-app';
import { readRecording } from '@/features/session-controls/session-recording';

const { summary } = readRecording();
router.update({
  history: createMemoryHistory({ initialEntries: [`/sessions/${summary.id}`] }),
});
startApp();
