import { useEffect } from 'react';
import { lookAt, useMoment, useSessionContext } from '@/features/session-log/session-context';
import { eventAfter } from './playback';

/** Advances the displayed moment during playback, up to the live end. */
export function usePlayback(): void {
  const context = useSessionContext();
  const playing = useMoment((state) => state.playing);
  const speed = useMoment((state) => state.speed);
  useEffect(() => {
    if (!playing) return;
    const { log, moment } = context;
    const from = moment.getState().at ?? log.getState().first;
    const began = performance.now();
    let frame = 0;
    const draw = () => {
      const { events, view } = log.getState();
      const seq = eventAfter(events, from, { elapsed: performance.now() - began, speed });
      if (seq >= view.lastSeq) return lookAt(context, null);
      if (seq !== moment.getState().at) lookAt(context, seq);
      frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [context, playing, speed]);
}
