import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./start-queue.spec.js'));
