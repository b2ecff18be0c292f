import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./run-publisher.spec.js'));
