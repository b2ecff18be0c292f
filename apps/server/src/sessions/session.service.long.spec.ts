import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./session.service.spec.js'));
