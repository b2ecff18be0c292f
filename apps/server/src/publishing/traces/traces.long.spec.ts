import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./traces.spec.js'));
