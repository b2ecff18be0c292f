// The client of openapi-generator: lists, starts, follows and reads a failure.
use belay_client::apis::{configuration::Configuration, sessions_api, Error};
use belay_client::models::create_session::{Approvals, CreateSession};
use std::env::var;
use std::time::{Duration, Instant};

#[tokio::main]
async fn main() {
    let configuration = Configuration {
        base_path: var("BELAY_URL").unwrap(),
        bearer_access_token: var("BELAY_TOKEN").ok(),
        ..Configuration::default()
    };
    let list = || sessions_api::sessions_list(&configuration, None, None, None);
    let before = list().await.unwrap().len();
    let mut wanted = CreateSession::new("Say hello".to_string());
    wanted.model = var("BELAY_MODEL").ok();
    wanted.approvals = Some(Approvals::Auto);
    let made = sessions_api::sessions_create(&configuration, wanted, None).await.unwrap();
    assert_eq!(list().await.unwrap().len(), before + 1);
    let (mut last, mut ended) = (0, false);
    let deadline = Instant::now() + Duration::from_secs(120);
    while !ended && Instant::now() < deadline {
        let page = sessions_api::sessions_events(&configuration, &made.id, Some(last), None, Some(20.0));
        for event in page.await.unwrap() {
            assert_eq!(event.seq, last + 1);
            last = event.seq;
            let state = event.args.get("state").and_then(|state| state.as_str());
            let is_end = matches!(state, Some("finished" | "failed" | "limited" | "stopped"));
            ended = ended || (event.action == "state" && is_end);
        }
    }
    assert!(ended, "The session has not ended.");
    match sessions_api::sessions_get(&configuration, "none").await {
        Err(Error::ResponseError(failure)) => {
            assert_eq!(failure.status.as_u16(), 404);
            assert!(failure.entity.is_some(), "The failure has no type.");
            assert!(failure.content.contains("not_found"));
        }
        _ => panic!("There is no such session."),
    }
}
