//! Lists of objects and of unfinished uploads, what removes all of them, and buckets.

use model::Result;
use rusty_s3::{
    S3Action,
    actions::{ListObjectsV2, ListObjectsV2Response, ObjectIdentifier},
};
use ureq::http::StatusCode;

use super::{
    S3Client,
    answer::add_object_name,
    xml::{element, unescape},
};
use crate::s3::{address::Link, transfer::AT_ONCE};

/// The most pages of unfinished uploads, of up to 1,000 each.
const MOST_PAGES: usize = 10_000;

/// A page of a list, with the token at which the next one starts.
pub(in crate::s3) type Page = ListObjectsV2Response;

/// An upload in parts that was neither completed nor given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::s3) struct Upload {
    pub(in crate::s3) object: String,
    pub(in crate::s3) id: String,
}

impl S3Client<'_> {
    /// Lists a page of the objects below the prefix, in order: those after `after`, or those from
    /// `token` on.
    pub(in crate::s3) fn list(
        &self,
        after: &str,
        token: Option<&str>,
        most: usize,
    ) -> Result<Page> {
        let Link { bucket, credentials, prefix, .. } = self.link;
        let mut list = bucket.list_objects_v2(Some(credentials));
        list.with_prefix(prefix);
        list.with_max_keys(most.min(AT_ONCE));
        match token {
            Some(token) => list.with_continuation_token(token),
            None if !after.is_empty() => list.with_start_after(after),
            None => {}
        }
        let ask = || self.read_text(self.send(list.clone(), true, &[], &[])?);
        let text = self.until_whole(ask)?;
        ListObjectsV2::parse_response(&text).map_err(|why| self.unexpected_error(&why.to_string()))
    }

    /// Lists the unfinished uploads of objects whose keys start with the prefix. A service that
    /// does not know such a list has none.
    pub(in crate::s3) fn uploads(&self) -> Result<Vec<Upload>> {
        let Link { bucket, credentials, prefix, .. } = self.link;
        let (mut all, mut marks) = (Vec::new(), None::<Upload>);
        for _ in 0..MOST_PAGES {
            // The bucket itself: rusty-s3 has no request for this.
            let mut list = bucket.get_object(Some(credentials), "");
            list.query_mut().insert("uploads", "");
            list.query_mut().insert("prefix", prefix.as_str());
            if let Some(Upload { object, id }) = &marks {
                list.query_mut().insert("key-marker", object.clone());
                list.query_mut().insert("upload-id-marker", id.clone());
            }
            let answer = self.send(list, true, &[], &[])?;
            let (status, mut answer) = (answer.status(), answer);
            if !status.is_success() {
                let text = self.text(&mut answer)?;
                // rclone says so of a bucket that never had one.
                let is_none = element(&text, "Code") == "NoSuchUpload";
                let is_unknown = matches!(status.as_u16(), 405 | 501);
                return if is_none || is_unknown {
                    Ok(all)
                } else {
                    Err(self.refusal(status, &text))
                };
            }
            let text = self.text(&mut answer)?;
            all.extend(uploads_in(&text));
            if element(&text, "IsTruncated") != "true" {
                return Ok(all);
            }
            let [object, id] =
                ["NextKeyMarker", "NextUploadIdMarker"].map(|name| unescape(element(&text, name)));
            let next = Some(Upload { object, id });
            if next == marks {
                break;
            }
            marks = next;
        }
        Err(self.unexpected_error("its list of unfinished uploads has no end"))
    }

    /// Gives up an unfinished upload, so that the service removes its parts.
    pub(in crate::s3) fn give_up(&self, Upload { object, id }: &Upload) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let abort = bucket.abort_multipart_upload(Some(credentials), object, id);
        let gone = self.send(abort, false, &[], &[]).and_then(|answer| match answer.status() {
            // Finished, or given up, meanwhile.
            StatusCode::NOT_FOUND => self.text(&mut { answer }).map(drop),
            _ => self.success_text(answer).map(drop),
        });
        gone.map_err(|error| add_object_name(error, object))
    }

    /// Gives up all unfinished uploads of objects whose keys start with the prefix.
    pub(in crate::s3) fn give_up_all(&self) -> Result<()> {
        self.uploads()?.iter().try_for_each(|upload| self.give_up(upload))
    }

    /// Deletes all objects whose keys start with the prefix.
    pub(in crate::s3) fn delete_all(&self) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        loop {
            // Deleted objects are no longer listed.
            let page = self.list("", None, AT_ONCE)?;
            let objects = page.contents.into_iter().map(|object| ObjectIdentifier::new(object.key));
            let objects: Vec<_> = objects.collect();
            if objects.is_empty() {
                return Ok(());
            }
            let mut action = bucket.delete_objects(Some(credentials), objects.iter());
            action.set_quiet(true);
            let (body, md5) = action.clone().body_with_md5();
            let sum = [("content-md5", md5.into())];
            let text = self.success_text(self.send(action, false, &sum, body.as_bytes())?)?;
            self.check_done(&text)?;
        }
    }

    /// Creates the bucket, unless it exists.
    pub(in crate::s3) fn create_bucket(&self) -> Result<()> {
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.create_bucket(credentials), false, &[], &[])?;
        if answer.status() == StatusCode::CONFLICT {
            return Ok(());
        }
        self.success_text(answer).map(drop)
    }

    /// Returns whether the bucket exists.
    pub(in crate::s3) fn has_bucket(&self) -> Result<bool> {
        let Link { bucket, credentials, .. } = self.link;
        let answer = self.send(bucket.head_bucket(Some(credentials)), false, &[], &[])?;
        Ok(self.check_status(answer)?.is_some())
    }
}

/// Returns the uploads in a list of unfinished ones.
fn uploads_in(text: &str) -> impl Iterator<Item = Upload> + '_ {
    text.split("<Upload>").skip(1).map(|upload| {
        let [object, id] = ["Key", "UploadId"].map(|name| unescape(element(upload, name)));
        Upload { object, id }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_are_read_from_a_list() {
        let text = "<R><Upload><Key>a&amp;b&#x2F;c</Key><UploadId>1</UploadId></Upload>\
                    <Upload><UploadId>2</UploadId><Key>d</Key></Upload></R>";
        let upload = |object: &str, id: &str| Upload { object: object.into(), id: id.into() };
        assert!(uploads_in(text).eq([upload("a&b/c", "1"), upload("d", "2")]));
        assert_eq!(uploads_in("<R/>").count(), 0);
    }
}
