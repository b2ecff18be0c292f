import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./schedules.spec.js'));
